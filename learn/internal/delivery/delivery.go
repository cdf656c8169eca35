// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/output"
)

// RunDir is a run directory. It keeps copies of the files that the run has delivered, for
// late attempts. Package rundir implements it.
type RunDir interface {
	// Begin is given the options on which the run's ranks agree. It returns an error if the
	// directory belongs to a run with other options.
	Begin(options string) error
	// Put stores what write writes, whose SHA-256 is sum. Take stores the contents of a file.
	Put(what string, sum [32]byte, write func(io.Writer) error) error
	Take(what string, sum [32]byte, name string) error
	// Open opens the copy with this digest. Its reader fails at the end if the bytes have
	// another digest.
	Open(what string, sum [32]byte) (io.ReadCloser, error)
	// Find returns the digest of the copy, whichever it is.
	Find(what string) (sum [32]byte, err error)
}

// Model is the name under which the server asks for the model.
const Model = "model"

// File is a file that this rank must deliver at the end.
type File struct {
	What string // name under which the server asks for it
	Kept string // name in the run directory
	Name string // final name
	Out  output.File
	// Write writes the contents and returns their digest; nil: Preds has them.
	Write func(io.Writer) ([32]byte, error)
	Preds *output.Predictions
}

// Delivery delivers the files of a rank.
type Delivery struct {
	Job    *job.Job
	Join   *allreduce.Config                      // nil: a run in one process
	RunDir RunDir                                 // nil: no copies are kept
	Create func(name string) (output.File, error) // creates the file of a copy
	Log    *slog.Logger
}

// Deliver ends the job. All ranks compare the digests of their models. Then each writes the
// files that it owes, when the server asks for them.
func (d *Delivery) Deliver(ctx context.Context, digest [32]byte, all []File) error {
	left := make([]string, len(all))
	for i, o := range all {
		left[i] = o.What
	}
	// The server may ask for the files of this rank one by one. A file counts when it has its
	// final name.
	handed := 0
	err := d.Job.Group.Finish(ctx, digest, left, func(_ context.Context, what string) ([32]byte, error) {
		for _, o := range all {
			if o.What == what {
				sum, err := d.hand(o)
				if err == nil {
					handed++
				}
				return sum, err
			}
		}
		return digest, fmt.Errorf("learn: the server asks for %q, which this rank does not owe", what)
	})
	// All files exist, so a failed end must not make a launcher repeat the whole run.
	if err != nil && handed == len(all) && d.safe(err, digest) {
		d.Log.Warn("the server has ended without confirming that the run has finished; this rank has delivered its files, and the run directory has the model",
			"rank", d.Job.Rank, "error", err)
		err = nil
	}
	return err
}

// hand delivers one file under its final name, and stores a copy in the run directory.
func (d *Delivery) hand(o File) (sum [32]byte, err error) {
	if o.Write == nil {
		if sum, err = o.Preds.Deliver(); err == nil {
			d.keep(o, func(keep RunDir) error { return keep.Take(o.Kept, sum, o.Name) })
		}
		return sum, err
	}
	if sum, err = o.Write(o.Out); err != nil {
		return sum, err
	}
	d.keep(o, func(keep RunDir) error {
		return keep.Put(o.Kept, sum, func(w io.Writer) error {
			_, err := o.Write(w)
			return err
		})
	})
	return sum, o.Out.Commit()
}

// keep copies a file into the run directory. The job does not fail without the copy: it is
// for attempts that may never come.
func (d *Delivery) keep(o File, put func(RunDir) error) {
	if d.RunDir == nil || d.Job.Group.Stream() { // a job with vw workers has no late attempts
		return
	}
	if err := put(d.RunDir); err != nil {
		d.Log.Error("cannot keep a file in the run directory: late attempts will not find it", "rank", d.Job.Rank, "file", o.Name, "error", err)
	}
}

// safe reports whether a rank that has delivered all its files may end without an error,
// although the server has not confirmed the end of the run. The server must be unreachable, or
// have been restarted without knowing the run. And the run directory must hold the model that
// this rank has, which proves that the ranks agreed.
func (d *Delivery) safe(err error, digest [32]byte) bool {
	keep := d.RunDir
	_, away := errors.AsType[*allreduce.ServerError](err)
	lost, over := errors.AsType[*allreduce.LostError](err)
	if keep == nil || !away && !(over && lost.ServerRestarted) {
		return false
	}
	in, err := keep.Open(Model, digest)
	return err == nil && in.Close() == nil
}
