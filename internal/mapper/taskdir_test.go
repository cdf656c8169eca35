// SPDX-License-Identifier: Apache-2.0

package mapper

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/hadoop"
)

// lateFS gives a file its final name only when it is committed, like the file systems of
// clusters. Its names are URLs.
type lateFS struct{ hdfsio.Local }

const lateURL = "hdfs://here"

func (f lateFS) Stat(ctx context.Context, name string) (hdfsio.Info, error) {
	name, ok := strings.CutPrefix(name, lateURL)
	if !ok {
		return hdfsio.Info{}, errors.New("not one of these files")
	}
	return f.Local.Stat(ctx, name)
}

func (f lateFS) Mkdir(ctx context.Context, name string) error {
	return f.Local.Mkdir(ctx, strings.TrimPrefix(name, lateURL))
}

type lateFile struct {
	bytes.Buffer
	ctx  context.Context
	fs   lateFS
	name string
}

func (f lateFS) Create(ctx context.Context, name string) (hdfsio.File, error) {
	name = strings.TrimPrefix(name, lateURL)
	if _, err := os.Stat(filepath.Dir(name)); err != nil {
		return nil, err
	}
	return &lateFile{ctx: ctx, fs: f, name: name}, nil
}

func (f *lateFile) Commit() error { return f.CommitIf(func() error { return nil }) }

func (f *lateFile) CommitIf(allowed func() error) error {
	out, err := f.fs.Local.Create(f.ctx, f.name)
	if err != nil {
		return err
	}
	if _, err := out.Write(f.Bytes()); err != nil {
		return errors.Join(err, out.Abort())
	}
	return hdfsio.CommitIf(out, allowed)
}

func (f *lateFile) CommitNew() error { return f.Commit() }
func (f *lateFile) Abort() error     { return nil }

// TestTheFolderOfAnAttemptIsRemoved checks that an attempt whose folder Hadoop has removed can
// still write its files and finish the job.
func TestTheFolderOfAnAttemptIsRemoved(t *testing.T) {
	temporary := filepath.Join(t.TempDir(), "_temporary")
	work := filepath.Join(temporary, "attempt_0")
	if err := os.MkdirAll(work, 0o777); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	m := &mapTask{task: hadoop.Task{Work: lateURL + work}, lines: &lineWriter{out: &said}}
	create := files.New(&cli.Process{}).Creator(t.Context(), m.Within(lateFS{}), 0)
	f, err := create(lateURL + work + "/model")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("weights")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(work); err != nil {
		t.Fatal(err)
	}
	// The condition is checked when the bytes are in the folder.
	if err := f.(hdfsio.Conditional).CommitIf(func() error {
		if copies, err := filepath.Glob(filepath.Join(work, ".model*")); err != nil || len(copies) != 1 {
			t.Errorf("the folder has the temporary files %v, %v", copies, err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(work, "model")); err != nil || string(b) != "weights" {
		t.Errorf("got %q, %v", b, err)
	}
	if !strings.Contains(said.String(), "Hadoop has given the attempt up") {
		t.Errorf("said %q", said.String())
	}
	// If the job's temporary folders are removed, too, they are not made again.
	if err := os.RemoveAll(temporary); err != nil {
		t.Fatal(err)
	}
	if _, err := create(lateURL + work + "/model"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
