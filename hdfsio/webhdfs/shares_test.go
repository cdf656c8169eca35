// SPDX-License-Identifier: Apache-2.0

package webhdfs

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/hdfsio/remote"
	"github.com/gvw-project/gvw/malt"
)

// put writes a file of the fake cluster.
func put(t *testing.T, fsys *remote.FS, name string, write func(io.Writer) error) {
	t.Helper()
	out, err := fsys.Create(t.Context(), name)
	if err == nil {
		err = errors.Join(write(out), out.Commit())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The shares of all ranks have each line of the files on a cluster once, although reads break.
func TestSharesOfFilesOnACluster(t *testing.T) {
	f := newFake(t)
	fsys := newFS(t, Config{Nodes: []string{f.node()}, User: "ada"}, t.Output())
	var want []string
	for part := range 3 {
		var text strings.Builder
		for i := range 1000 {
			want = append(want, fmt.Sprintf("line %d of part %d", i, part))
			text.WriteString(want[len(want)-1] + "\n")
		}
		name := fmt.Sprintf("webhdfs://fake/part-%d", part)
		write := func(w io.Writer) error { _, err := io.WriteString(w, text.String()); return err }
		if part == 1 {
			name += ".gz"
			write = func(w io.Writer) error {
				z := gzip.NewWriter(w)
				_, err := io.WriteString(z, text.String())
				return errors.Join(err, z.Close())
			}
		}
		put(t, fsys, name, write)
	}
	var got []string
	for rank := range 4 {
		f.breaks = 1
		data, err := malt.LoadData(t.Context(), malt.DataConfig{FS: fsys, Names: []string{"webhdfs://fake/part-*"}, Rank: rank, Of: 4, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		own := 0
		for line, err := range data.Lines(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(line))
			own++
		}
		if own != len(want)/4 {
			t.Errorf("rank %d has %d of %d lines", rank, own, len(want))
		}
	}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("the shares have %d lines, want each of %d once", len(got), len(want))
	}
}
