// SPDX-License-Identifier: Apache-2.0

package mapper

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/gvw-project/gvw/hdfsio"
)

// taskFS is a file system in which the folder of a map task's output may vanish. Hadoop removes
// the folder of an attempt that it has given up, since its node is lost, say; but the
// attempt may live on and end the job for all, and a later one of the same rank then gets the model
// from the run's own place. So the folder is made again. It never counts, and goes with the
// job's other temporary folders.
type taskFS struct {
	hdfsio.FS
	dir string // the folder
	say func(format string, args ...any)
}

// Within is the file system for what a task writes.
func (m *mapTask) Within(fsys hdfsio.FS) hdfsio.FS {
	if m.task.Work == "" {
		return fsys
	}
	return taskFS{fsys, localName(m.task.Work), m.say}
}

// Create starts a file; its folder is there, then and when it is committed.
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

// restore makes the folder again, unless all of the job's temporary folders are gone. What cannot be
// made is told by whoever needs it.
func (f taskFS) restore(ctx context.Context) {
	if _, err := f.Stat(ctx, f.dir); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	above := f.dir[:strings.LastIndexByte(f.dir, '/')] // path.Dir would make of :// a :/
	if _, err := f.Stat(ctx, above); err == nil && f.Mkdir(ctx, f.dir) == nil {
		f.say("the folder of this attempt's output was removed: Hadoop has given the attempt up; the run goes on")
	}
}

type taskFile struct {
	hdfsio.File
	fs  taskFS
	ctx context.Context // of Create
}

func (f taskFile) Commit() error {
	f.fs.restore(f.ctx)
	return f.File.Commit()
}

func (f taskFile) CommitNew() error {
	f.fs.restore(f.ctx)
	return f.File.CommitNew()
}
