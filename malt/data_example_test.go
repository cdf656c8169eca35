// SPDX-License-Identifier: Apache-2.0

package malt_test

import (
	"context"
	"errors"
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

// All has the lines of all shares, each with its place.
func ExampleData_All() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "malt")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "part-0"), []byte("1\n5\n4\n2\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	data, err := malt.LoadData(ctx, malt.DataConfig{Names: []string{filepath.Join(dir, "part-0")}, Of: 2, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for line, err := range data.All(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("line %d of %s, of rank %d: %s\n", line.Number, filepath.Base(line.File), line.Share, line.Text)
	}
	// Output:
	// line 1 of part-0, of rank 0: 1
	// line 2 of part-0, of rank 1: 5
	// line 3 of part-0, of rank 1: 4
	// line 4 of part-0, of rank 0: 2
}

// Compare finds a rank that sees other files than the others.
func ExampleData_Compare() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "malt")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"0/train": "1\n2\n", "1/train": "1\n"} {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			fmt.Println(err)
			return
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			fmt.Println(err)
			return
		}
	}
	job(2, func(g *malt.Group) (string, error) {
		name := filepath.Join(dir, fmt.Sprint(g.Rank()), "train")
		data, err := malt.LoadData(ctx, malt.DataConfig{Names: []string{name}, Rank: g.Rank(), Of: 2})
		if err != nil {
			return "", err
		}
		if err := data.Compare(ctx, g); err != nil { // it names two ranks and their files
			return "", errors.New("the files differ")
		}
		return "the files are equal", nil
	})
	// Output:
	// rank 0: the files differ
	// rank 1: the files differ
}
