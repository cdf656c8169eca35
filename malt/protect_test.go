// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// failures are learners that fail, with a part of the reason that all ranks see.
var failures = []struct {
	name, want string
	panics     bool
	learn      func(v *Vector[float32]) error
}{
	{"error", "line 7 is no example", false, func(*Vector[float32]) error { return errors.New("line 7 is no example") }},
	{"division by zero", "panic: runtime error: integer divide by zero", true, func(v *Vector[float32]) error {
		zero := len(v.Values()) - 10
		return fmt.Errorf("%d", 1/zero)
	}},
	{"index", "panic: runtime error: index out of range [10]", true, func(v *Vector[float32]) error {
		v.Values()[len(v.Values())]++
		return nil
	}},
	{"address", "panic: runtime error: invalid memory address", true, func(*Vector[float32]) error {
		address := uintptr(1 << 44) // mapped by no program
		*(*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&address))) = 1
		return nil
	}},
	{"value", "panic: no model", true, func(*Vector[float32]) error { panic("no model") }},
	{"merger", "panic: runtime error: integer divide by zero", true, func(v *Vector[float32]) error {
		if err := v.Scatter(context.Background()); err != nil {
			return err
		}
		_, err := v.Gather(context.Background(), func(v *Vector[float32], in []Incoming[float32]) {
			v.Values()[0] = float32(1 / (len(in) / 100))
		})
		return err
	}},
}

// TestFailureOfTheLearnerIsReported lets the learner of one rank fail: it gets an error with its own rank, and the other
// ranks get the reason from the server at once.
func TestFailureOfTheLearnerIsReported(t *testing.T) {
	for _, f := range failures {
		bubble(t, f.name, func(t *testing.T) {
			begun := time.Now()
			errs := newCluster(t, 4, Config{}).each(func(g *Group) error {
				v, err := NewVector[float32](g, "v", 10, VectorConfig{ObjectConfig: ObjectConfig{Sync: "notify_ack"}})
				if err != nil {
					return err
				}
				return g.Protect(func() error {
					for round := 0; ; round++ {
						if g.Rank() == 1 && round == 5 {
							if err := f.learn(v); err != nil {
								return err
							}
						}
						if err := v.Scatter(context.Background()); err != nil {
							return err
						}
						if _, err := v.Gather(context.Background(), Sum); err != nil {
							return err
						}
					}
				})
			})
			if took := time.Since(begun); took > 3*time.Second {
				t.Errorf("the ranks learned it after %v, want no timeout", took)
			}
			for rank, err := range errs {
				if !strings.Contains(fmt.Sprint(err), f.want) || !strings.Contains(fmt.Sprint(err), "rank 1 (h1)") {
					t.Errorf("rank %d: got %v, want rank 1, its host and %q", rank, err, f.want)
				}
				own, ok := errors.AsType[*LearnerError](err)
				if ok != (rank == 1) {
					t.Errorf("rank %d: got a %T, want a *LearnerError on rank 1 only", rank, err)
				}
				if ok && (own.Stack != nil) != f.panics {
					t.Errorf("got a stack of %d bytes, want one for panics only", len(own.Stack))
				}
			}
			if _, ok := errors.AsType[runtime.Error](errs[1]); f.panics && f.name != "value" && !ok {
				t.Errorf("got %v, which has lost the run-time error", errs[1])
			}
		})
	}
}

// A merger panics in a job that replaces ranks, where the values are handed to the call and back. The rank leaves at
// once, and its replacement continues.
func TestPanicOfAMergerIsALoss(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		c, ctx := newCluster(t, 3, Config{OnLoss: Wait}), context.Background()
		train := func(g *Group, panics bool) error {
			v, err := NewVector[float32](g, "v", 4, VectorConfig{ObjectConfig: ObjectConfig{Sync: "bsp"}})
			for err == nil && v.Iteration() < 20 {
				if err = v.Scatter(ctx); err == nil {
					_, err = v.Gather(ctx, func(v *Vector[float32], in []Incoming[float32]) {
						if panics && v.Iteration() == 5 {
							panic("no merger")
						}
						AverageIncludingSelf(v, in)
					})
				}
			}
			return err
		}
		c.must(func(g *Group) error {
			if g.Rank() == 1 {
				if _, ok := errors.AsType[*LearnerError](g.Protect(func() error { return train(g, true) })); !ok {
					return errors.New("the panic is not reported")
				}
				g.Close()
				var err error
				if g, err = c.join(1, c.fabric.Host("spare")); err != nil {
					return err
				}
			}
			if err := train(g, false); err != nil {
				return err
			}
			return g.Done(ctx)
		})
	})
}

// TestSurvivorsOfALearnerContinue is the same for a job that shrinks, and for a learner that succeeds.
func TestSurvivorsOfALearnerContinue(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		errs := newCluster(t, 4, Config{OnLoss: Shrink}).each(func(g *Group) error {
			ctx := context.Background()
			v, err := NewVector[float32](g, "v", 10, VectorConfig{ObjectConfig: ObjectConfig{Sync: "bsp"}})
			if err != nil {
				return err
			}
			if err := g.Protect(func() error {
				for round := range 20 {
					if g.Rank() == 2 && round == 5 {
						panic("no more")
					}
					if err := v.Scatter(ctx); err != nil {
						return err
					}
					if _, err := v.Gather(ctx, AverageIncludingSelf); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				return err
			}
			if live := g.Members(); !slices.Equal(live, []int{0, 1, 3}) {
				return fmt.Errorf("the members are %v, want all but rank 2", live)
			}
			return g.Done(ctx)
		})
		for rank, err := range errs {
			if (err != nil) != (rank == 2) {
				t.Errorf("rank %d: got %v", rank, err)
			}
		}
	})
}
