// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/learn/internal/batchstage"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/sgdstage"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/internal/training"
)

// trainer is a whole training as one machine of one stage or, in the hybrid, two:
// steps are numbered through, and a rank that comes late may enter anywhere.
//
// Where a job recovers from losses, what other ranks may ask for is made at once
// and not touched until the next step has made it anew: the state after each
// commit, the results after each exchange. So it does not matter what this rank
// does while it is written.
type trainer struct {
	job        *job.Job
	tally      *tally.Tally
	files      *output.PredictionFiles
	provenance job.Provenance
	log        *slog.Logger
	passes     int // of the whole training, if none stops early

	stage stage
	nth   int // stage, from 0
	// then makes the stage after: from what the first one came to, or with left nil
	// one whose state will be read. nil: there is none.
	then func(left stage) (stage, error)

	steps     int  // completed
	predicted int  // of these, the ones whose predictions belong into -p and -r
	written   int  // steps of which this rank has written predictions
	worked    bool // the work of the step under way is done

	corrupt error // a state was received in part and has overwritten some of the one before; nil: none was

	state   snapshot.Snapshot // where the job recovers: what the next step starts from
	results snapshot.Snapshot // likewise: of the step completed last
	known   bool              // results are there
}

// stage is a machine whose state and results can be told. Its arrays are in one
// order for writing and reading; which there are may depend on what shared says,
// which comes before them.
type stage interface {
	allreduce.Machine
	// Finish ends training.
	Finish() (training.Outcome, error)

	// Shared codes the part of the state that is the same on all ranks, and Own what a
	// replacement of this rank needs besides its record. When all of a state has been read,
	// Adopt continues from it.
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

var (
	_ stage = (*sgdstage.Online)(nil)
	_ stage = (*sgdstage.Classes)(nil)
	_ stage = (*batchstage.Batch)(nil)

	_ allreduce.Shrinker = (*trainer)(nil)
)

func (c *trainer) begin(first stage) *trainer {
	c.job.Own = c.own
	c.stage = first
	return c
}

// own codes what the place of this rank needs besides its record.
func (c *trainer) own(d *snapshot.Coder) {
	c.provenance.Code(d, c.job.Rank)
	c.tally.Own(d)
	n := c.nth
	if d.Number("phase", &n, snapshot.MaxPhase); n != c.nth { // what the stage before has said
		d.B = nil
		return
	}
	c.stage.Own(d)
}

// Keep says whether the job recovers from losses.
func (c *trainer) Keep(recovers bool) {
	j := c.job
	j.Keep = recovers && j.Group.Size() > 1
	j.Rank, j.Total = j.Group.Rank(), j.Group.Size()
	if j.Keep && c.files.Any() && c.passes > 1 {
		c.log.Warn("predictions of several passes cannot be had again: if this rank is lost after its second pass, no other process can take its place. Predict in a run of its own (learn.Config.TestOnly, learn.Config.Model.Initial=MODEL)")
	}
}

// Next names the next step.
func (c *trainer) Next() (string, bool) { return c.stage.Next() }

// Work makes this rank's contribution.
func (c *trainer) Work(ctx context.Context) error {
	if c.corrupt != nil {
		return c.corrupt
	}
	if c.worked { // a state was read that this rank had started from itself
		return nil
	}
	c.files.Mute = c.nth > 0 || c.steps < c.written // -p has the progressive predictions of the first stage
	if err := c.stage.Work(ctx); err != nil {
		return err
	}
	c.worked, c.written = true, max(c.written, c.steps+1)
	return nil
}

// Exchange makes results of the contributions of all ranks.
func (c *trainer) Exchange(ctx context.Context, g *allreduce.Group) error {
	c.known = false
	if c.corrupt != nil {
		return c.corrupt
	}
	if !c.worked { // a rank was lost for good, and what this one had done is void
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

// keepResults notes what WriteResults is to write.
func (c *trainer) keepResults() {
	if !c.job.Keep {
		return
	}
	w := snapshot.Coder{B: c.results.Small[:0]}
	c.job.Records(&w)
	c.tally.Outcome(&w)
	c.stage.Outcome(&w)
	c.results = snapshot.Snapshot{Phase: c.nth, Steps: c.steps + 1, Small: w.B, Arrays: c.stage.OutcomeArrays()}
	c.known = true
}

// Commit makes the next state, and goes on to the next stage if this one has no
// more steps.
func (c *trainer) Commit() error {
	if err := c.stage.Commit(); err != nil {
		return err
	}
	c.worked = false
	c.steps++
	if c.nth == 0 {
		c.predicted++
	}
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

// advance enters the next stage.
func (c *trainer) advance(left stage) error {
	st, err := c.then(left)
	if err != nil {
		return err
	}
	c.nth++
	c.then = nil
	c.stage = st
	return nil
}

// current is the state as it is, between two steps. buf is memory for it.
func (c *trainer) current(buf []byte) snapshot.Snapshot {
	if c.steps == 0 { // everybody can make that
		return snapshot.Snapshot{}
	}
	w := snapshot.Coder{B: buf[:0]}
	w.Number("steps with predictions", &c.predicted, c.steps)
	c.tally.Shared(&w)
	c.job.Records(&w)
	c.stage.Shared(&w)
	return snapshot.Snapshot{Phase: c.nth, Steps: c.steps, Small: w.B, Arrays: c.stage.SharedArrays()}
}

// WriteState writes what the next step starts from.
func (c *trainer) WriteState(w io.Writer) error {
	p := c.state
	if !c.job.Keep {
		if c.job.Total > 1 {
			panic("BUG: learn: a rank is asked for its state and was not told to keep it")
		}
		p = c.current(nil)
	}
	if err := p.Write(w, snapshot.StateMark); err != nil {
		return fmt.Errorf("cannot write the state after step %d: %w", p.Steps, err)
	}
	return nil
}

// ReadState takes over what another rank wrote.
func (c *trainer) ReadState(r io.Reader) error {
	if err := c.readState(r); err != nil {
		return fmt.Errorf("rank %d: cannot take over a state: %w", c.job.Rank, drained(r, err))
	}
	c.corrupt = nil
	return nil
}

// drained reads what is left, so that who sends it sees that it came whole, and what
// the fault is: not the connection.
func drained(r io.Reader, err error) error {
	_, _ = io.Copy(io.Discard, r) // err is the one to tell
	return err
}

func (c *trainer) readState(r io.Reader) error {
	p, arrays, err := snapshot.Read(r, snapshot.StateMark)
	if err != nil {
		return err
	}
	if p.Steps == 0 {
		if c.steps > 0 || len(p.Small) > 0 || arrays > 0 {
			return fmt.Errorf("it is that of the start, and this rank has done %d steps", c.steps)
		}
		return nil // this rank has it, and perhaps the first step's work
	}
	d := snapshot.Coder{B: p.Small, Reading: true}
	var predicted int
	d.Number("steps with predictions", &predicted, p.Steps)
	if c.files.Any() && predicted > c.written {
		return usage("Output.Predictions", "%d passes are done, and this process has the predictions of %d: its file would lack those between. Start the job anew, or predict in a run of its own (learn.Config.TestOnly, learn.Config.Model.Initial=MODEL)", predicted, c.written)
	}
	if err := c.stageOf(&p); err != nil {
		return err
	}
	c.corrupt = fmt.Errorf("learn: rank %d: a state came in part, and no other followed: this process cannot go on; start it again", c.job.Rank)
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
	c.results.Arrays = nil // which would keep what is over
	if c.job.Keep {
		c.job.Commit()
		c.state = c.current(c.state.Small)
	}
	return nil
}

// adopt puts this rank where its record says it was.
func (c *trainer) adopt() error {
	r, err := c.job.Adopt()
	if err != nil {
		return err
	}
	c.tally.Adopt(r)
	return nil
}

// stageOf enters the stage that a state belongs to.
func (c *trainer) stageOf(p *snapshot.Snapshot) error {
	switch {
	case p.Phase == c.nth:
		return nil
	case p.Phase != c.nth+1 || c.then == nil:
		return fmt.Errorf("it is of phase %d, and this rank is in phase %d: do all ranks have the same options?", p.Phase+1, c.nth+1)
	}
	return c.advance(nil)
}

// WriteResults writes the results of the step completed last.
func (c *trainer) WriteResults(w io.Writer) error {
	if !c.known {
		return allreduce.ErrNoResults
	}
	if err := c.results.Write(w, snapshot.ResultsMark); err != nil {
		return fmt.Errorf("cannot write the results of step %d: %w", c.results.Steps, err)
	}
	return nil
}

// ReadResults takes over another rank's.
func (c *trainer) ReadResults(r io.Reader) error {
	if err := c.readResults(r); err != nil {
		return fmt.Errorf("rank %d: cannot take over the results of step %d: %w", c.job.Rank, c.steps+1, drained(r, err))
	}
	return nil
}

func (c *trainer) readResults(r io.Reader) error {
	p, arrays, err := snapshot.Read(r, snapshot.ResultsMark)
	if err != nil {
		return err
	}
	if p.Steps != c.steps+1 || p.Phase != c.nth {
		return fmt.Errorf("they are of step %d in phase %d, and this rank wants those of phase %d", p.Steps, p.Phase+1, c.nth+1)
	}
	c.known = false
	d := snapshot.Coder{B: p.Small, Reading: true}
	c.job.Records(&d)
	c.tally.Outcome(&d)
	if d.Err == nil {
		d.Err = c.job.Merge()
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

// Shrink goes on without the ranks that are not in live.
func (c *trainer) Shrink(live []int) error {
	if err := c.shrink(live); err != nil {
		return fmt.Errorf("rank %d: cannot go on without lost ranks: %w", c.job.Rank, err)
	}
	return nil
}

func (c *trainer) shrink(live []int) error {
	j := c.job
	if !j.Keep {
		panic("BUG: learn: a rank is to go on without others, and was not told to keep its state")
	}
	if slices.Equal(j.Live, live) {
		return nil // the state that this rank has taken over knows it
	}
	if err := j.Without(live); err != nil {
		return err
	}
	c.tally.ForgetBest()
	void, err := c.stage.Shrink()
	if err != nil || j.Committed == nil {
		return err
	}
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
