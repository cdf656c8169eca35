// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"fmt"
	"io"

	"github.com/gvw-project/gvw/allreduce"
)

// copyFromRunDir handles an error of the attempt. It reports whether err means that the job has
// ended before this attempt became a member. It then copies the files that the attempt owes
// from the run directory, and returns a *allreduce.FinishedError if that succeeds.
//
// An attempt that was a member of the job owes nothing: its replacement has delivered.
func (r *runner) copyFromRunDir(err error) (over bool, _ error) {
	if r.job.Wired || r.cfg.Cluster.Join == nil {
		return false, err
	}
	job := r.cfg.Cluster.Join.Job
	fin, finished := errors.AsType[*allreduce.FinishedError](err)
	no, refused := errors.AsType[*allreduce.RefusedError](err)
	_, unstarted := errors.AsType[*allreduce.StartError](err)
	_, unreachable := errors.AsType[*allreduce.ServerError](err)
	keep, all := r.cfg.Cluster.RunDir, r.owes()
	switch {
	case finished:
		if keep == nil {
			return true, err // the attempt that was a member has delivered the files
		}
	case refused && no.Finished():
		if keep == nil && len(all) > 0 {
			return true, err
		}
		fin = &allreduce.FinishedError{Job: job, Rank: r.job.Rank, Model: no.Model}
		if r.cfg.Cluster.Join.Elastic {
			all = r.withPredictions(all)
		}
	case (unstarted || unreachable) && keep != nil:
		// A server without a journal forgets finished runs. Then no other rank joins this attempt.
		model, none := keep.Find(owesModel)
		if none != nil {
			return false, err
		}
		r.cfg.Diagnostics.Log.Warn("the run has finished: its model is in the run directory", "rank", r.job.Rank, "error", err)
		fin = &allreduce.FinishedError{Job: job, Rank: r.job.Rank, Model: model}
	default:
		return false, err
	}
	if err := r.fetchAll(all, fin.Model); err != nil {
		return true, fmt.Errorf("job %v has finished with model %x…, and rank %d owes %w", job, fin.Model[:6], r.job.Rank, err)
	}
	return true, fin
}

// over detects a job of late attempts only. A server that has forgotten a finished run starts
// the job again with the ranks that have joined. over returns a *allreduce.FinishedError then,
// and nil otherwise.
func (r *runner) over() error {
	c := r.cfg.Cluster.Join
	if c == nil || !c.Elastic || r.cfg.Cluster.RunDir == nil || r.job.Group.Resumed() || r.job.Group.Size() == r.job.Total {
		return nil
	}
	model, none := r.cfg.Cluster.RunDir.Find(owesModel)
	if none != nil {
		return nil
	}
	r.cfg.Diagnostics.Log.Warn("the run has finished: its model is in the run directory", "rank", r.job.Rank)
	return &allreduce.FinishedError{Job: c.Job, Rank: r.job.Rank, Model: model}
}

// withPredictions drops the predictions that do not exist: the elastic job may have run without
// this rank.
func (r *runner) withPredictions(all []owed) (kept []owed) {
	for _, o := range all {
		if o.preds != nil {
			if _, err := r.cfg.Cluster.RunDir.Find(o.kept); err != nil {
				r.cfg.Diagnostics.Log.Warn("the run directory has no predictions of this rank: the job ran without it", "rank", r.job.Rank, "file", o.name, "error", err)
				continue
			}
		}
		kept = append(kept, o)
	}
	return kept
}

// fetchAll copies the files that this rank owes from the run directory. It copies none if any
// of them is missing.
func (r *runner) fetchAll(all []owed, model [32]byte) error {
	found := make([]io.ReadCloser, len(all))
	defer func() {
		for _, in := range found {
			if in != nil {
				_ = in.Close() // only read from
			}
		}
	}()
	for i, o := range all {
		sum, err := model, error(nil)
		if o.what != owesModel {
			sum, err = r.cfg.Cluster.RunDir.Find(o.kept)
		}
		if err == nil {
			found[i], err = r.cfg.Cluster.RunDir.Open(o.kept, sum)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
	}
	for i, o := range all {
		if err := r.fetch(o, found[i]); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
	}
	return nil
}

// fetch copies one file. It needs no lease: a file that exists has the same bytes.
func (r *runner) fetch(o owed, in io.Reader) error {
	_ = o.out.Abort() // removes what this attempt has written
	out, err := r.create(o.name)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err == nil {
		err = out.Commit()
	}
	if err != nil {
		return errors.Join(err, out.Abort())
	}
	r.cfg.Diagnostics.Log.Info("copied from the run directory", "rank", r.job.Rank, "file", o.name)
	return nil
}
