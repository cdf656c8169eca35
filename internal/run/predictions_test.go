// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
)

// The pieces of a file that cannot be put together remain and are named. Other files are written, and their pieces are
// removed.
func TestPiecesThatCannotBePutTogetherRemain(t *testing.T) {
	t.Chdir(t.TempDir())
	pl, err := planFor("-d x.vw --timeline tr.json -p p", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"tr.json.ID.0": "[\n{\"ph\":7}\n]\n",
		"tr.json.ID.1": "[\n]\n",
		"p.ID.0":       "1\n",
		"p.ID.1":       "2\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fsys := hdfsio.Local{}
	err = newLauncher(&cli.Process{}, nil).gatherAll(t.Context(), fsys, pl)
	if want := "the ranks' pieces of it are kept: tr.json.ID.0 to tr.json.ID.1"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one with %q", err, want)
	}
	if err := pl.removePieces(t.Context(), fsys); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got, want := strings.Join(names, " "), "p tr.json.ID.0 tr.json.ID.1"; got != want {
		t.Errorf("got the files %s, want %s", got, want)
	}
	pl, err = planFor("-d x.vw -p p --passes 2", "") // the order is that of the data, which cannot be read again
	if err != nil {
		t.Fatal(err)
	}
	err = newLauncher(&cli.Process{}, nil).gatherAll(t.Context(), fsys, pl)
	if want := "the ranks' pieces of it are kept: p.ID.0 to p.ID.1"; err == nil || !strings.Contains(err.Error(), want) || !pl.gathered[0].keep {
		t.Errorf("got error %v, want one with %q", err, want)
	}
	if text, err := os.ReadFile("p"); err != nil || string(text) != "1\n2\n" {
		t.Errorf("got predictions %q and error %v", text, err)
	}
}

// Predictions are written although the checkpoints of the job cannot be removed.
func TestPredictionsDespiteCheckpoints(t *testing.T) {
	t.Chdir(t.TempDir())
	pl, err := planFor("-d x.vw -p p", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"file": "", "p.ID.0": "1\n", "p.ID.1": "2\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stderr strings.Builder
	p := newLauncher(&cli.Process{Stderr: &stderr}, nil)
	if err := p.complete(t.Context(), &hdfsio.URLs{}, pl, "file/ck", "ID"); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile("p"); err != nil || string(text) != "1\n2\n" {
		t.Errorf("got predictions %q and error %v", text, err)
	}
	if got, want := stderr.String(), "cannot remove temporary files"; !strings.Contains(got, want) {
		t.Errorf("stderr has %q, want %q in it", got, want)
	}
}

// ending is a file system that ends a context when a file is opened.
type ending struct {
	hdfsio.Local
	name string
	end  func()
}

func (e ending) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	if name == e.name {
		e.end()
	}
	return e.Local.Open(ctx, name, offset)
}

// Pieces that were kept are named, too, if the user ends the job while the next file is put together.
func TestKeptPiecesAreNamedAfterASignal(t *testing.T) {
	t.Chdir(t.TempDir())
	pl, err := planFor("-d x.vw -p p -r raw", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	second := pl.gathered[1]
	err = newLauncher(&cli.Process{}, nil).gatherAll(ctx, ending{name: second.pieces[0], end: end}, pl) // there are no pieces
	if err == nil {
		t.Fatal("got no error")
	}
	for _, want := range []string{"the ranks' pieces of it are kept: " + pl.gathered[0].pieces[0], "cannot put together " + second.name} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q in it", err, want)
		}
	}
}
