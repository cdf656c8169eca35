// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
)

// replacing is a file system on which a file is replaced before it is opened once more.
type replacing struct {
	hdfsio.Local

	left    int // number of opens before that
	replace func()
}

func (r *replacing) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	if r.left--; r.left == -1 {
		r.replace()
	}
	return r.Local.Open(ctx, name, offset)
}

// TestParquetFilesThatAreReplaced checks that a pass never mixes the rows of two files. Replacing a file by one of the same
// size is an error, also between passes, since the first file determines which rows each rank reads.
func TestParquetFilesThatAreReplaced(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("..", "..", "feature", "parquet", "testdata", "snappy.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "train.parquet")
	write := func(name string, modified time.Time) {
		t.Helper()
		if err := errors.Join(os.WriteFile(name, b, 0o600), os.Chtimes(name, modified, modified)); err != nil {
			t.Fatal(err)
		}
	}
	passes := func(fsys hdfsio.FS, shard hdfsio.Shard) (rows string, err error) {
		inputs, err := ParquetShard(t.Context(), fsys, []string{name}, shard)
		if err != nil {
			return "", err
		}
		for range 2 {
			r, err := inputs[0].Open(t.Context())
			if err != nil {
				return "", err
			}
			text, err := io.ReadAll(r)
			if err := errors.Join(err, r.Close()); err != nil {
				return "", err
			}
			rows += string(text)
		}
		return rows, nil
	}
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, shard := range []hdfsio.Shard{{}, {Kind: hdfsio.Bytes, Rank: 1, Total: 2}, {Kind: hdfsio.Lines, Rank: 1, Total: 2}} {
		write(name, then)
		count := &replacing{left: 1 << 30}
		want, err := passes(count, shard)
		if err != nil || want == "" {
			t.Fatalf("%v: %q, %v", shard, want, err)
		}
		opens := 1<<30 - count.left
		if opens < 6 {
			t.Fatalf("%v: two passes opened the file %d times", shard, opens)
		}
		for after := range opens + 1 {
			write(name, then)
			write(filepath.Join(dir, "new"), then.Add(time.Hour))
			got, err := passes(&replacing{left: after, replace: func() {
				if err := os.Rename(filepath.Join(dir, "new"), name); err != nil {
					t.Error(err)
				}
			}}, shard)
			if after == opens {
				if err != nil || got != want {
					t.Errorf("%v, not replaced: got %q, %v", shard, got, err)
				}
				continue
			}
			if _, is := errors.AsType[*hdfsio.Error](err); !is || !strings.Contains(err.Error(), name+": it was replaced while it was read: run again") {
				t.Errorf("%v, replaced after %d of %d opens: got %v", shard, after, opens, err)
			}
		}
	}
}
