// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"errors"
	"fmt"
	"io"

	"github.com/gvw-project/gvw/allreduce"
)

// Copy handles an error of the attempt. It reports whether err means that the job has
// ended before this attempt became a member. It then copies the files that the attempt owes
// from the run directory, and returns a *allreduce.FinishedError if that succeeds.
//
// An attempt that was a member of the job owes nothing: its replacement has delivered.
func (d *Delivery) Copy(err error, all []File) (over bool, _ error) {
	if d.Job.Wired || d.Join == nil {
		return false, err
	}
	job := d.Join.Job
	fin, finished := errors.AsType[*allreduce.FinishedError](err)
	no, refused := errors.AsType[*allreduce.RefusedError](err)
	_, unstarted := errors.AsType[*allreduce.StartError](err)
	_, unreachable := errors.AsType[*allreduce.ServerError](err)
	keep := d.RunDir
	switch {
	case finished:
		if keep == nil {
			return true, err // the attempt that was a member has delivered the files
		}
	case refused && no.Finished():
		if keep == nil && len(all) > 0 {
			return true, err
		}
		fin = &allreduce.FinishedError{Job: job, Rank: d.Job.Rank, Model: no.Model}
		if d.Join.Elastic {
			all = d.withPredictions(all)
		}
	case (unstarted || unreachable) && keep != nil:
		// A server without a journal forgets finished runs. Then no other rank joins this attempt.
		model, none := keep.Find(Model)
		if none != nil {
			return false, err
		}
		d.Log.Warn("the run has finished: its model is in the run directory", "rank", d.Job.Rank, "error", err)
		fin = &allreduce.FinishedError{Job: job, Rank: d.Job.Rank, Model: model}
	default:
		return false, err
	}
	if err := d.fetchAll(all, fin.Model); err != nil {
		return true, fmt.Errorf("job %v has finished with model %x…, and rank %d owes %w", job, fin.Model[:6], d.Job.Rank, err)
	}
	return true, fin
}

// Over detects a job of late attempts only. A server that has forgotten a finished run starts
// the job again with the ranks that have joined. Over returns a *allreduce.FinishedError then,
// and nil otherwise.
func (d *Delivery) Over() error {
	c := d.Join
	if c == nil || !c.Elastic || d.RunDir == nil || d.Job.Group.Resumed() || d.Job.Group.Size() == d.Job.Total {
		return nil
	}
	model, none := d.RunDir.Find(Model)
	if none != nil {
		return nil
	}
	d.Log.Warn("the run has finished: its model is in the run directory", "rank", d.Job.Rank)
	return &allreduce.FinishedError{Job: c.Job, Rank: d.Job.Rank, Model: model}
}

// withPredictions drops the predictions that do not exist: the elastic job may have run without
// this rank.
func (d *Delivery) withPredictions(all []File) (kept []File) {
	for _, o := range all {
		if o.Preds != nil {
			if _, err := d.RunDir.Find(o.Kept); err != nil {
				d.Log.Warn("the run directory has no predictions of this rank: the job ran without it", "rank", d.Job.Rank, "file", o.Name, "error", err)
				continue
			}
		}
		kept = append(kept, o)
	}
	return kept
}

// fetchAll copies the files that this rank owes from the run directory. It copies none if any
// of them is missing.
func (d *Delivery) fetchAll(all []File, model [32]byte) error {
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
		if o.What != Model {
			sum, err = d.RunDir.Find(o.Kept)
		}
		if err == nil {
			found[i], err = d.RunDir.Open(o.Kept, sum)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.Name, err)
		}
	}
	for i, o := range all {
		if err := d.fetch(o, found[i]); err != nil {
			return fmt.Errorf("%s: %w", o.Name, err)
		}
	}
	return nil
}

// fetch copies one file. It needs no lease: a file that exists has the same bytes.
func (d *Delivery) fetch(o File, in io.Reader) error {
	_ = o.Out.Abort() // removes what this attempt has written
	out, err := d.Create(o.Name)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err == nil {
		err = out.Commit()
	}
	if err != nil {
		return errors.Join(err, out.Abort())
	}
	d.Log.Info("copied from the run directory", "rank", d.Job.Rank, "file", o.Name)
	return nil
}
