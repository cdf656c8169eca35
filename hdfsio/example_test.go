// SPDX-License-Identifier: Apache-2.0

package hdfsio_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gvw-project/gvw/hdfsio"
)

// A file appears under its name when it is committed, and three ranks then read its
// lines, each line once.
func Example() {
	dir, err := os.MkdirTemp("", "hdfsio-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := writeAndSplit(context.Background(), hdfsio.Local{}, filepath.Join(dir, "train.vw")); err != nil {
		fmt.Println(err)
	}
	// Output:
	// rank 0: "1 | sun\n-1 | rain\n"
	// rank 1: "1 | sun wind\n"
	// rank 2: ""
}

func writeAndSplit(ctx context.Context, fsys hdfsio.FS, name string) error {
	f, err := fsys.Create(ctx, name)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(f, "1 | sun\n-1 | rain\n1 | sun wind\n"); err != nil {
		return err
	}
	if err := f.Commit(); err != nil {
		return err
	}
	for rank := range 3 {
		parts, err := hdfsio.Split(ctx, fsys, []string{name}, hdfsio.Shard{Kind: hdfsio.Bytes, Rank: rank, Total: 3})
		if err != nil {
			return err
		}
		for _, p := range parts {
			text, err := readAll(ctx, p)
			if err != nil {
				return err
			}
			fmt.Printf("rank %d: %q\n", rank, text)
		}
	}
	return nil
}

func readAll(ctx context.Context, p hdfsio.Part) ([]byte, error) {
	r, err := p.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
