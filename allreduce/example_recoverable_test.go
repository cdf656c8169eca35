// SPDX-License-Identifier: Apache-2.0

package allreduce_test

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/gvw-project/gvw/allreduce"
)

// descent minimises the mean of (x - a)² over the numbers a of all ranks by gradient
// descent. A step is one pass over the rank's own numbers.
type descent struct {
	numbers []float64      // the shard
	steps   int            // to do
	at      func(step int) // called when the Work of a step begins

	// The state: equal on all ranks, written only by Commit and ReadState.
	done int
	x    float64
	read bool // it came from another rank, so there are no results

	part    [2]float64 // the contribution: gradient and count, written only by Work
	sums    [2]float64 // the results: those of all ranks, written only by Exchange
	records [][]byte   // of the ranks, which this machine does not use
}

// A machine that implements Recoverable survives the loss of a rank.
var _ allreduce.Recoverable = (*descent)(nil)

func (d *descent) Next() (string, bool) {
	return fmt.Sprintf("step %d of %d", d.done+1, d.steps), d.done < d.steps
}

func (d *descent) Work(ctx context.Context) error {
	d.at(d.done + 1)
	d.part = [2]float64{}
	for _, a := range d.numbers {
		d.part[0] += 2 * (d.x - a)
		d.part[1]++
	}
	return context.Cause(ctx)
}

func (d *descent) Exchange(ctx context.Context, g *allreduce.Group) (err error) {
	if err := g.AllReduceInto(ctx, allreduce.Vec(d.sums[:]).Named("gradient"), allreduce.Vec(d.part[:]), allreduce.Sum); err != nil {
		return err
	}
	d.records, err = g.AllGatherV(ctx, d.records, nil) // the last collective of a step
	return err
}

func (d *descent) Commit() error {
	d.x -= 0.25 * d.sums[0] / d.sums[1]
	d.done++
	d.read = false
	return nil
}

// Keep does nothing, since this machine never works in place.
func (d *descent) Keep(bool) {}

// state is what the next step starts from.
type state struct {
	Done int
	X    float64
}

func (d *descent) WriteState(w io.Writer) error {
	return gob.NewEncoder(w).Encode(state{d.done, d.x})
}

func (d *descent) ReadState(r io.Reader) error {
	var s state
	if err := gob.NewDecoder(r).Decode(&s); err != nil {
		return err
	}
	d.done, d.x, d.read = s.Done, s.X, true
	return nil
}

func (d *descent) WriteResults(w io.Writer) error {
	if d.read {
		return allreduce.ErrNoResults
	}
	return gob.NewEncoder(w).Encode(d.sums)
}

func (d *descent) ReadResults(r io.Reader) error { return gob.NewDecoder(r).Decode(&d.sums) }

// Rank 1 of three is lost in the Work of step 3. The others wait for its next attempt,
// which gets the state of step 2 from one of them and goes on from there.
func ExampleRecoverable() {
	server, stop, err := serve()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()

	errLost := errors.New("this attempt is lost")
	attempt := func(rank int, lostIn int) (float64, error) {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		g, err := allreduce.Join(ctx, allreduce.Config{
			Server: server, Job: allreduce.Job{UniqueID: 8, RunKey: "descent"},
			Rank: rank, Total: 3, OnLoss: allreduce.Wait,
		})
		if err != nil {
			return 0, err
		}
		defer g.Close() // before Done, this is the loss of a rank
		d := &descent{numbers: []float64{float64(rank), 10}, steps: 20, at: func(step int) {
			if step == lostIn {
				cancel(errLost)
			}
		}}
		if err := g.Run(ctx, d); err != nil {
			return 0, err
		}
		return d.x, g.Done(ctx)
	}

	var found [3]float64
	var errs [3]error
	var ranks sync.WaitGroup
	for rank := range found {
		ranks.Go(func() {
			if rank == 1 {
				if _, err := attempt(rank, 3); !errors.Is(err, errLost) {
					errs[rank] = fmt.Errorf("the first attempt: got %w, want its loss", err)
					return
				}
			}
			found[rank], errs[rank] = attempt(rank, 0)
		})
	}
	ranks.Wait()
	for rank, x := range found {
		fmt.Printf("rank %d: x = %.4f, error %v\n", rank, x, errs[rank])
	}
	// Output:
	// rank 0: x = 5.5000, error <nil>
	// rank 1: x = 5.5000, error <nil>
	// rank 2: x = 5.5000, error <nil>
}
