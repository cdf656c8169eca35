// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"log/slog"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/checkpoint"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
)

// takeCheckpoints makes a rank write its state to the files of --checkpoint, every
// --checkpoint_every steps. It does nothing without the option.
func (l *Learner) takeCheckpoints(c *cli.Context, cluster *allreduce.Config, log *slog.Logger) {
	if !c.IsSet("checkpoint") {
		return
	}
	fsys := privateFS{files.Watched(c, l.files.System(c.String, true), true, log), l.files}
	cluster.Checkpoints = &checkpoint.Store{Context: c.Context, FS: fsys, Path: c.String("checkpoint"), Resume: c.Bool("resume"), Log: log}
	cluster.CheckpointEvery = int(c.Uint64("checkpoint_every"))
}

// privateFS is a file system whose files only this user may read. Temporary files are removed
// if the process has to end at once.
type privateFS struct {
	*hdfsio.Watched
	files *files.Set
}

// Create creates a file that replaces name when it is committed.
func (f privateFS) Create(ctx context.Context, name string) (hdfsio.File, error) {
	file, err := f.Watched.Create(ctx, name)
	if err == nil {
		f.files.Unfinished.Add(f.Watched, name)
	}
	return file, err
}
