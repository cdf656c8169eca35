// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/gvw-project/gvw/hdfsio"
)

// located is a file system that returns the given blocks for every file.
type located struct {
	hdfsio.Local
	blocks []hdfsio.Block
	err    error
}

func (l located) Blocks(context.Context, string) ([]hdfsio.Block, error) { return l.blocks, l.err }

func TestBlocksHere(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	two := []hdfsio.Block{{Hosts: []string{"elsewhere", host + ".example.org"}}, {Hosts: []string{"elsewhere"}}}
	for _, c := range []struct {
		fsys hdfsio.FS
		name string
		want string
	}{
		{located{blocks: two}, "hdfs:///x", ", 1 of 2 blocks on this machine"},
		{located{blocks: two}, "x", ""},
		{located{err: errors.ErrUnsupported}, "hdfs:///x", ""},
		{hdfsio.Local{}, "hdfs:///x", ""},
	} {
		if got := blocksHere(t.Context(), c.fsys, c.name); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{{"h1", "H1.example.org", true}, {"h1", "h2", false}, {"10.0.0.1", "10.0.0.2", false}, {"10.0.0.1", "10.0.0.1", true}} {
		if got := sameHost(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}
