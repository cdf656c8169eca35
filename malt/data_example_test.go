// SPDX-License-Identifier: Apache-2.0

package malt_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gvw-project/gvw/malt"
)

// Two ranks read their shares of six lines.
func ExampleLoadData() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "malt")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "part-0"), []byte("1\n2\n3\n4\n5\n6\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	for rank := range 2 {
		data, err := malt.LoadData(ctx, malt.DataConfig{Names: []string{filepath.Join(dir, "part-*")}, Rank: rank, Of: 2, Seed: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("rank %d of %d file:", rank, len(data.Files()))
		for line, err := range data.Lines(ctx, 0) {
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Printf(" %s", line)
		}
		fmt.Println()
	}
	// Output:
	// rank 0 of 1 file: 6 1 4
	// rank 1 of 1 file: 2 3 5
}
