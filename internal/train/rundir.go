// SPDX-License-Identifier: Apache-2.0

package train

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/rundir"
	"github.com/gvw-project/gvw/learn"
)

// NoRunDir is the value of --run_dir for no run directory.
const NoRunDir = "-"

// BesideModel is the folder beside the model that has the run directories.
const BesideModel = "_gvw"

// takeRunDir sets the run directory of a rank. If the user names none, it is beside the model
// of a run whose ranks may have several attempts: the launcher may count the files of any
// attempt, and a late one copies them from there. gvw run passes NoRunDir, since it starts all
// attempts itself.
func (l *Learner) takeRunDir(c *cli.Context, cfg *learn.Config, fsys hdfsio.FS) error {
	given := c.String("run_dir")
	if given == NoRunDir || cfg.Cluster.Join == nil || cfg.Cluster.Join.Job.RunKey == "" {
		return nil
	}
	base := strings.TrimSuffix(given, "/")
	if given == "" {
		// Without recovery no attempt replaces another one, so no attempt can be late.
		if cfg.Cluster.Join.OnLoss == allreduce.Abort {
			return nil
		}
		out := cmp.Or(cfg.Model.Final, cfg.Output.Predictions, cfg.Output.RawPredictions)
		if !lasts(c.Context, fsys, out) {
			return nil
		}
		dir, _ := filepath.Split(out)
		base = dir + BesideModel
	}
	d := &rundir.Dir{Context: c.Context, FS: trackedFS{fsys, l.files}, Base: base, Run: cfg.Cluster.Join.Job.RunKey}
	if given != "" { // the folder of the model is known to be writable
		if err := d.Probe(); err != nil {
			return err
		}
	}
	cfg.Cluster.RunDir = keptFiles{d}
	return nil
}

// lasts reports whether an output is, or will be, a regular file, which can be read again; a
// pipe or a device cannot.
func lasts(ctx context.Context, fsys hdfsio.FS, name string) bool {
	if name == "" || slices.Contains(files.StdoutNames, name) {
		return false
	}
	info, err := fsys.Stat(ctx, name)
	return err == nil && info.Mode.IsRegular() || errors.Is(err, fs.ErrNotExist)
}

// keptFiles is a run directory that skips outputs to stdout.
type keptFiles struct{ *rundir.Dir }

func (k keptFiles) Take(what string, sum [32]byte, name string) error {
	if slices.Contains(files.StdoutNames, name) {
		return nil
	}
	return k.Dir.Take(what, sum, name)
}

// trackedFS is a file system whose unfinished files are removed if the process has to end at
// once.
type trackedFS struct {
	hdfsio.FS
	files *files.Set
}

// Create creates a file that replaces name when it is committed.
func (f trackedFS) Create(ctx context.Context, name string) (hdfsio.File, error) {
	file, err := f.FS.Create(ctx, name)
	if err == nil {
		f.files.Unfinished.Add(f.FS, name)
	}
	return file, err
}
