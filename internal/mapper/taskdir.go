// SPDX-License-Identifier: Apache-2.0

package mapper

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/gvw-project/gvw/hdfsio"
)

// taskFS is a file system in which the output folder of an attempt may vanish. Hadoop removes
// the folder of an attempt that it has given up, for example because its node is lost. The
// attempt may still live and finish the job for all ranks; a later attempt of the rank then
// copies the model from the run directory. So taskFS makes the folder again. Hadoop ignores it,
// and removes it with the other temporary folders of the job.
type taskFS struct {
	hdfsio.FS
	dir string // the folder
	say func(format string, args ...any)
}

// Within returns the file system for the outputs of a task.
func (m *mapTask) Within(fsys hdfsio.FS) hdfsio.FS {
	if m.task.Work == "" {
		return fsys
	}
	return taskFS{fsys, localName(m.task.Work), m.printf}
}

// Create creates a file. It makes the folder again if it has vanished, now and at the commit.
func (f taskFS) Create(ctx context.Context, name string) (hdfsio.File, error) {
	if !strings.HasPrefix(name, f.dir+"/") {
		return f.FS.Create(ctx, name)
	}
	f.restore(ctx)
	file, err := f.FS.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	return taskFile{file, f, ctx}, nil
}

// restore makes the folder again, unless all temporary folders of the job are gone. The caller
// reports a folder that cannot be made.
func (f taskFS) restore(ctx context.Context) {
	if _, err := f.Stat(ctx, f.dir); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	above := f.dir[:strings.LastIndexByte(f.dir, '/')] // path.Dir would turn :// into :/
	if _, err := f.Stat(ctx, above); err == nil && f.Mkdir(ctx, f.dir) == nil {
		f.say("the folder of this attempt's output was removed: Hadoop has given the attempt up; the run goes on")
	}
}

type taskFile struct {
	hdfsio.File
	fs  taskFS
	ctx context.Context // context of Create
}

func (f taskFile) Commit() error {
	f.fs.restore(f.ctx)
	return f.File.Commit()
}

func (f taskFile) CommitIf(allowed func() error) error {
	f.fs.restore(f.ctx)
	return hdfsio.CommitIf(f.File, allowed)
}

func (f taskFile) CommitNew() error {
	f.fs.restore(f.ctx)
	return f.File.CommitNew()
}
