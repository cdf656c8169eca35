// SPDX-License-Identifier: Apache-2.0

package trainer

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/learn/internal/usage"
)

// Config has what a trainer works with.
type Config struct {
	Job        *job.Job
	Tally      *tally.Tally
	Files      *output.PredictionFiles
	Provenance job.Provenance
	Log        *slog.Logger
	Passes     int // of the whole training if it does not stop early
	// Then makes the next stage from the outcome of the first one. If left is nil, a state
	// will be read into the new stage. nil: there is no next stage.
	Then func(left Stage) (Stage, error)
}

// Trainer is the state machine of a whole training. It runs one stage or, in the hybrid, two.
// The steps are numbered through, so that a replacement can start at any of them.
//
// In a job that recovers from losses, other ranks may ask for two things: the state after each
// commit, and the results after each exchange. Both are built once and stay unchanged until the
// next step replaces them. So they can be written at any time, whatever this rank does
// meanwhile.
type Trainer struct {
	job        *job.Job
	tally      *tally.Tally
	files      *output.PredictionFiles
	provenance job.Provenance
	log        *slog.Logger
	passes     int

	stage Stage                           // the current one
	nth   int                             // its number, from 0
	then  func(left Stage) (Stage, error) // Config.Then; nil once it has been called

	steps     int  // steps completed
	predicted int  // those whose predictions belong into -p and -r
	written   int  // steps whose predictions this rank has written
	worked    bool // the work of the current step is done

	corrupt error // set while a state has been received only in part and has overwritten the one before

	state   snapshot.Snapshot // input of the next step, in a job that recovers
	results snapshot.Snapshot // results of the last completed step, likewise
	known   bool              // results is set
}

// Stage is a machine that can write and read its state and its results. Its arrays come in one
// order for writing and reading. Which arrays there are may depend on the fields that Shared
// codes, so these come first.
type Stage interface {
	allreduce.Machine
	// Finish ends training and returns its outcome.
	Finish() (training.Outcome, error)

	// Shared codes the part of the state that is the same on all ranks, and Own the part that a
	// replacement of this rank needs besides its record. Adopt continues from a state when all
	// of it has been read.
	Shared(c *snapshot.Coder)
	SharedArrays() []snapshot.Array
	Own(c *snapshot.Coder)
	Adopt() error

	// Shrink forgets what was best with all ranks, and continues without some of them. void
	// reports that the stage has started again at its current weights, so that the work of
	// the step under way must be repeated.
	Shrink() (void bool, err error)

	// Outcome codes the results of a step, except the records and the sums of the tally.
	Outcome(c *snapshot.Coder)
	OutcomeArrays() []snapshot.Array
}

var _ allreduce.Shrinker = (*Trainer)(nil)

// New returns a trainer with its first stage.
func New(c Config, first Stage) *Trainer {
	t := &Trainer{
		job: c.Job, tally: c.Tally, files: c.Files, provenance: c.Provenance, log: c.Log, passes: c.Passes,
		stage: first, then: c.Then,
	}
	t.job.Own = t.own
	return t
}

// Stage returns the current stage.
func (c *Trainer) Stage() Stage { return c.stage }

// Close ends what a stage has open between two steps, such as a pass that it reads in parts.
func (c *Trainer) Close() {
	if open, ok := c.stage.(interface{ Close() }); ok {
		open.Close()
	}
}

// own codes what a replacement of this rank needs besides its record.
func (c *Trainer) own(d *snapshot.Coder) {
	n := c.nth
	if c.tally.Own(d, &c.provenance, &n); n != c.nth { // the record is of the stage before, and has nothing for this one
		d.Drop()
		return
	}
	c.stage.Own(d)
}

// Keep is called before the first step. recovers reports whether the job recovers from losses,
// so that the state must survive each step.
func (c *Trainer) Keep(recovers bool) {
	j := c.job
	j.Keep = recovers && j.Group.Size() > 1
	j.Rank, j.Total = j.Group.Rank(), j.Group.Size()
	if j.Keep && c.files.Any() && c.passes > 1 {
		c.log.Warn("predictions of several passes cannot be repeated: if this rank is lost after its second pass, no other process can replace it. Predict in a separate run (learn.Config.TestOnly, learn.Config.Model.Initial=MODEL)")
	}
}

// Next returns the name of the next step, and reports whether there is one.
func (c *Trainer) Next() (string, bool) { return c.stage.Next() }

// Work makes this rank's contribution to the current step.
func (c *Trainer) Work(ctx context.Context) error {
	if c.corrupt != nil {
		return c.corrupt
	}
	if c.worked { // the state that was read is the one from which this rank has worked
		return nil
	}
	c.files.Mute = c.nth > 0 || c.steps < c.written // -p has the progressive predictions of the first stage
	if err := c.stage.Work(ctx); err != nil {
		return err
	}
	c.worked, c.written = true, max(c.written, c.steps+1)
	return nil
}

// Exchange makes the results from the contributions of all ranks.
func (c *Trainer) Exchange(ctx context.Context, g *allreduce.Group) error {
	c.known = false
	if c.corrupt != nil {
		return c.corrupt
	}
	if !c.worked { // another rank is lost permanently, which has made the work of this one void
		if err := c.Work(ctx); err != nil {
			return err
		}
	}
	if err := c.stage.Exchange(ctx, g); err != nil {
		return err
	}
	c.keepResults()
	return nil
}

// keepResults builds what WriteResults writes. A job that does not recover needs none.
func (c *Trainer) keepResults() {
	if !c.job.Keep {
		return
	}
	// The order of the fields is that of readResults.
	w := snapshot.Encode(c.results.Small[:0])
	c.job.Records(&w)
	c.tally.Outcome(&w)
	c.stage.Outcome(&w)
	c.results = snapshot.Snapshot{Phase: c.nth, Steps: c.steps + 1, Small: w.Bytes(), Arrays: c.stage.OutcomeArrays()}
	c.known = true
}

// Commit makes the results the state. It enters the next stage if this one has no more steps.
func (c *Trainer) Commit() error {
	if err := c.stage.Commit(); err != nil {
		return err
	}
	c.worked = false
	c.steps++
	if c.nth == 0 {
		c.predicted++
	}
	// The last step of SGD ends its stage in the same commit, so that every rank agrees on the
	// stage of each step.
	if _, more := c.stage.Next(); !more && c.then != nil {
		if err := c.advance(c.stage); err != nil {
			return err
		}
	}
	if c.job.Keep {
		c.job.Commit()
		c.state = c.current(c.state.Small)
	}
	return nil
}

// advance enters the next stage. left is the current stage, or nil if a state of the next one
// is about to be read.
func (c *Trainer) advance(left Stage) error {
	st, err := c.then(left)
	if err != nil {
		return err
	}
	c.nth++
	c.then = nil
	c.stage = st
	return nil
}

// current returns the state between two steps. It reuses buf for the small fields.
func (c *Trainer) current(buf []byte) snapshot.Snapshot {
	if c.steps == 0 { // every rank can make the initial state by itself
		return snapshot.Snapshot{}
	}
	// The order of the fields is that of readState.
	w := snapshot.Encode(buf[:0])
	w.Number("steps with predictions", &c.predicted, c.steps)
	c.tally.Shared(&w)
	c.job.Records(&w)
	c.stage.Shared(&w)
	return snapshot.Snapshot{Phase: c.nth, Steps: c.steps, Small: w.Bytes(), Arrays: c.stage.SharedArrays()}
}

// WriteState writes the state from which the next step starts, for another rank or a
// checkpoint.
func (c *Trainer) WriteState(w io.Writer) error {
	p := c.state
	if !c.job.Keep {
		if c.job.Total > 1 {
			panic("BUG: learn: a rank is asked for its state, which a job that does not recover does not keep")
		}
		p = c.current(nil)
	}
	if err := p.Write(w, snapshot.StateMark); err != nil {
		return fmt.Errorf("cannot write the state after step %d: %w", p.Steps, err)
	}
	return nil
}

// ReadState continues from the state that another rank or an earlier attempt has written.
func (c *Trainer) ReadState(r io.Reader) error {
	if err := c.readState(r); err != nil {
		return fmt.Errorf("rank %d: cannot take over a state: %w", c.job.Rank, drained(r, err))
	}
	c.corrupt = nil
	return nil
}

// drained reads the rest of a state, and returns err. The sender would otherwise report a fault
// of the connection, since the rest was not read.
func drained(r io.Reader, err error) error {
	_, _ = io.Copy(io.Discard, r) // err is the cause
	return err
}

func (c *Trainer) readState(r io.Reader) error {
	p, arrays, err := snapshot.Read(r, snapshot.StateMark)
	if err != nil {
		return err
	}
	if p.Steps == 0 {
		if c.steps > 0 || len(p.Small) > 0 || arrays > 0 {
			return fmt.Errorf("it is the initial state, and this rank has completed %d steps", c.steps)
		}
		return nil // this rank is in this state, and may have done the work of the first step
	}
	d := snapshot.Decode(p.Small)
	var predicted int
	d.Number("steps with predictions", &predicted, p.Steps)
	if c.files.Any() && predicted > c.written {
		return usage.New("Output.Predictions", "%d passes are done, and this process has the predictions of %d: its file would lack those between. Start the job again, or predict in a separate run (learn.Config.TestOnly, learn.Config.Model.Initial=MODEL)", predicted, c.written)
	}
	if err := c.stageOf(&p); err != nil {
		return err
	}
	// From here on reading overwrites the state of this rank. Until it ends, no step may run.
	c.corrupt = fmt.Errorf("learn: rank %d: only part of a state was received, and no other state followed: this process cannot continue; start it again", c.job.Rank)
	c.tally.Shared(&d)
	c.job.Records(&d)
	c.stage.Shared(&d)
	if err := d.End("the state"); err != nil {
		return err
	}
	if err := snapshot.ReadArrays(r, c.stage.SharedArrays(), arrays); err != nil {
		return err
	}
	if err := c.adopt(); err != nil {
		return err
	}
	if err := c.stage.Adopt(); err != nil {
		return err
	}
	c.steps, c.predicted, c.worked, c.known = p.Steps, predicted, false, false
	c.results.Arrays = nil // they would keep old tables alive
	if c.job.Keep {
		c.job.Commit()
		c.state = c.current(c.state.Small)
	}
	return nil
}

// adopt sets the counters of this rank from its record, which a lost attempt of the rank may
// have sent.
func (c *Trainer) adopt() error {
	r, err := c.job.Adopt()
	if err != nil {
		return err
	}
	c.tally.Adopt(r)
	return nil
}

// stageOf enters the stage to which a state belongs: the current one or the next.
func (c *Trainer) stageOf(p *snapshot.Snapshot) error {
	switch {
	case p.Phase == c.nth:
		return nil
	case p.Phase != c.nth+1 || c.then == nil:
		return fmt.Errorf("it is of phase %d, and this rank is in phase %d: do all ranks have the same options?", p.Phase+1, c.nth+1)
	}
	return c.advance(nil)
}

// WriteResults writes the results of the last completed step. A rank that is one step behind
// needs no more than these.
func (c *Trainer) WriteResults(w io.Writer) error {
	if !c.known {
		return allreduce.ErrNoResults
	}
	if err := c.results.Write(w, snapshot.ResultsMark); err != nil {
		return fmt.Errorf("cannot write the results of step %d: %w", c.results.Steps, err)
	}
	return nil
}

// ReadResults completes the current step with the results that another rank has written.
func (c *Trainer) ReadResults(r io.Reader) error {
	if err := c.readResults(r); err != nil {
		return fmt.Errorf("rank %d: cannot take over the results of step %d: %w", c.job.Rank, c.steps+1, drained(r, err))
	}
	return nil
}

// readResults replaces the exchange of the current step. Commit follows, as after an exchange.
func (c *Trainer) readResults(r io.Reader) error {
	p, arrays, err := snapshot.Read(r, snapshot.ResultsMark)
	if err != nil {
		return err
	}
	if p.Steps != c.steps+1 || p.Phase != c.nth {
		return fmt.Errorf("they are of step %d in phase %d, and this rank wants those of phase %d", p.Steps, p.Phase+1, c.nth+1)
	}
	c.known = false
	d := snapshot.Decode(p.Small)
	c.job.Records(&d)
	c.tally.Outcome(&d)
	if d.Err() == nil {
		d.FailWith(c.job.Merge())
	}
	c.stage.Outcome(&d)
	if err := d.End("the results"); err != nil {
		return err
	}
	if err := snapshot.ReadArrays(r, c.stage.OutcomeArrays(), arrays); err != nil {
		return err
	}
	c.keepResults()
	return nil
}

// Shrink continues without the ranks that are not in live. All remaining ranks call it for the
// same step, so that their states stay equal.
func (c *Trainer) Shrink(live []int) error {
	if err := c.shrink(live); err != nil {
		return fmt.Errorf("rank %d: cannot continue without lost ranks: %w", c.job.Rank, err)
	}
	return nil
}

func (c *Trainer) shrink(live []int) error {
	j := c.job
	if !j.Keep {
		panic("BUG: learn: ranks are lost in a job that does not recover")
	}
	if slices.Equal(j.Live, live) {
		return nil // this rank has read a state in which they are lost already
	}
	if err := j.Without(live); err != nil {
		return err
	}
	c.tally.ForgetBest()
	void, err := c.stage.Shrink()
	if err != nil || j.Committed == nil {
		return err
	}
	// The records of the current step may have those of the lost ranks.
	j.Rollback()
	if void {
		c.worked = false
		err = c.adopt()
	} else {
		err = j.Merge()
	}
	c.state, c.known = c.current(c.state.Small), false
	return err
}
