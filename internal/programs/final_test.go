// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/malt"
)

// untrained is a program with two vectors, which learns nothing.
type untrained struct{ program }

func (untrained) share(j *job) error {
	_, first := j.vector("first", j.members)
	_, second := j.vector("second", j.members)
	return errors.Join(first, second)
}

func (untrained) exchange(context.Context) error { return nil }

// ending is a job of which each rank ends its training after a time of its own. Some leave the job after another time.
type ending struct {
	onLoss malt.OnLoss
	ends   []time.Duration
	leaves map[int]time.Duration
}

// run returns the vectors of the ranks that stay, and their errors. The first model of rank i has a 1 at entry i of both
// vectors. run is called in a synctest bubble.
func (e ending) run(t *testing.T) (models map[int][][]float32, errs []error) {
	t.Helper()
	fabric := mem.New()
	l, err := fabric.Host("server").Listen(t.Context(), "server:26543")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(server.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.WithoutCancel(t.Context()), l) }()
	defer func() { s.Close(); <-served }()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, errors.New("the ranks hang"))
	defer cancel()

	var mu sync.Mutex
	models = map[int][][]float32{}
	var ranks sync.WaitGroup
	for rank := range e.ends {
		ranks.Go(func() {
			host := fmt.Sprintf("h%d", rank)
			g, err := malt.Join(ctx, malt.Config{
				Server: l.Addr().String(), Job: malt.Job{UniqueID: 7}, Rank: rank, Total: len(e.ends), OnLoss: e.onLoss,
				Network: fabric.Host(host), Host: host,
			})
			if err != nil {
				t.Errorf("rank %d: %v", rank, err)
				return
			}
			defer g.Close()
			after, leaves := e.leaves[rank]
			if leaves {
				time.AfterFunc(after, func() { g.Close() })
			}
			j := &job{group: g, members: len(e.ends), every: 1}
			err = j.share(untrained{})
			if err == nil {
				time.Sleep(e.ends[rank])
				err = j.finish(ctx, 0, func() {
					for _, v := range j.vectors {
						v.Values()[rank] = 1
					}
				})
			}
			if err == nil && !leaves {
				mu.Lock()
				for _, v := range j.vectors {
					models[rank] = append(models[rank], slices.Clone(v.Values()))
				}
				mu.Unlock()
			}
			if err == nil {
				err = g.Done(ctx)
			}
			if err != nil && !leaves {
				mu.Lock()
				errs = append(errs, fmt.Errorf("rank %d: %w", rank, err))
				mu.Unlock()
			}
		})
	}
	ranks.Wait()
	return models, errs
}

// check fails the test unless all ranks that stay have the same average, of their own models and perhaps of some others.
func (e ending) check(t *testing.T) {
	t.Helper()
	models, errs := e.run(t)
	if len(errs) > 0 {
		t.Errorf("%+v: %v", e, errors.Join(errs...))
		return
	}
	var want []float32
	for rank := range e.ends {
		if _, leaves := e.leaves[rank]; leaves {
			continue
		}
		if want == nil {
			want = models[rank][0]
		}
		for i, got := range models[rank] {
			if !slices.Equal(got, want) {
				t.Errorf("%+v: vector %d of rank %d is %v, want %v as on the lowest rank", e, i, rank, got, want)
			}
		}
	}
	averaged := 0
	for _, x := range want {
		if x != 0 {
			averaged++
		}
	}
	for rank, x := range want {
		_, leaves := e.leaves[rank]
		if part := 1 / float64(averaged); math.Abs(float64(x)-part) > 1e-6 && !(leaves && x == 0) {
			t.Errorf("%+v: got %v, want the average with the model of rank %d", e, want, rank)
		}
	}
}

// TestTheModelIsAverageAfterALateLoss loses a rank for which the others wait in the final average.
func TestTheModelIsAverageAfterALateLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ending{malt.Shrink, []time.Duration{0, 0, time.Minute}, map[int]time.Duration{2: time.Second}}.check(t)
	})
}

// TestALateLossEndsAJobThatAborts has the same loss in a job that does not go on.
func TestALateLossEndsAJobThatAborts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		models, errs := ending{malt.Abort, []time.Duration{0, 0, time.Minute}, map[int]time.Duration{2: time.Second}}.run(t)
		if len(models) > 0 || len(errs) != 2 || !strings.Contains(errs[0].Error(), "rank 2") {
			t.Errorf("got the models %v and the errors %v, want no model and two errors about rank 2", models, errs)
		}
	})
}

// TestLossesDuringTheFinalAverage loses ranks at times that are often those at which others end their training.
func TestLossesDuringTheFinalAverage(t *testing.T) {
	const total, most = 5, 4
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			e := ending{malt.Shrink, make([]time.Duration, total), map[int]time.Duration{}}
			for rank := range e.ends {
				e.ends[rank] = time.Duration(random.IntN(most)) * time.Second
			}
			for _, rank := range random.Perm(total)[:random.IntN(total)] {
				e.leaves[rank] = time.Duration(random.IntN(2*most)) * time.Second
			}
			e.check(t)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
