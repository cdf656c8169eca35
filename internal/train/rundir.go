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

	"github.com/gvw-project/gvw/internal/cli"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/rundir"
	"github.com/gvw-project/gvw/learn"
)

// NoRunDir says that the run has no place of its own.
const NoRunDir = "-"

// BesideModel is the folder of such places, beside the model.
const BesideModel = "_gvw"

// takeRunDir gives a rank its run's own place. Unless the user names one, a run has one
// where its ranks may have more attempts than one, and something else than gvw run starts
// them, so that nobody knows which of them is the last.
func (l *Learner) takeRunDir(c *cli.Context, cfg *learn.Config, fsys hdfsio.FS) error {
	given := c.String("run_dir")
	if given == NoRunDir || cfg.Cluster.Join == nil || cfg.Cluster.Join.Job.RunKey == "" {
		return nil
	}
	base := strings.TrimSuffix(given, "/")
	if given == "" {
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
	if given != "" { // beside the model something could be written, as is known
		if err := d.Probe(); err != nil {
			return err
		}
	}
	cfg.Cluster.RunDir = keptFiles{d}
	return nil
}

// lasts says whether an output is, or will be, a file that can be read again.
func lasts(ctx context.Context, fsys hdfsio.FS, name string) bool {
	if name == "" || slices.Contains(files.StdoutNames, name) {
		return false
	}
	info, err := fsys.Stat(ctx, name)
	return err == nil && info.Mode.IsRegular() || errors.Is(err, fs.ErrNotExist)
}

// keptFiles knows which names are no files.
type keptFiles struct{ *rundir.Dir }

func (k keptFiles) Take(what string, sum [32]byte, name string) error {
	if slices.Contains(files.StdoutNames, name) {
		return nil
	}
	return k.Dir.Take(what, sum, name)
}

// trackedFS is a file system of which what is under way is removed if the process has to
// end at once.
type trackedFS struct {
	hdfsio.FS
	files *files.Set
}

// Create starts a file that replaces name when it is committed.
func (f trackedFS) Create(ctx context.Context, name string) (hdfsio.File, error) {
	file, err := f.FS.Create(ctx, name)
	if err == nil {
		f.files.Unfinished.Add(f.FS, name)
	}
	return file, err
}
