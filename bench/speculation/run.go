// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// Result holds the figures of both runs.
type Result struct {
	Config  Config // defaults filled in
	Early   []int  // ranks that are slow from the start
	Late    []int  // ranks that are slow from a later pass on
	Without Times
	With    Times

	Duplicates int // started by the launcher
	Overtaken  int // ranks whose duplicate finished the first pass earlier
	HandedOver int // ranks handed over to their duplicate at the end of a pass
}

// Times are those of the passes of all ranks of a run, each from the end of the previous pass
// to when the rank's contribution was ready.
type Times struct {
	Low, Median, Upper, High, Max time.Duration // quantiles 5 %, 50 %, 75 % and 95 %, and the maximum
	// Communication is the median over the passes of the time from the last contribution to
	// when the last rank had the sums. It includes the server's decisions between passes.
	Communication time.Duration
	All           time.Duration // the whole run
}

// Run runs the job without duplicates and with them.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	r := &Result{Config: cfg}
	order := rand.New(rand.NewPCG(cfg.Seed, 0)).Perm(cfg.Ranks)[:cfg.slow()]
	r.Early, r.Late = order[:(len(order)+1)/2], order[(len(order)+1)/2:]
	slices.Sort(r.Early)
	slices.Sort(r.Late)
	var ends [2][32]byte
	for i, duplicates := range []bool{false, true} {
		j := r.job(duplicates)
		if err := j.bounded(ctx); err != nil {
			return nil, err
		}
		if len(j.digests) != 1 {
			return nil, fmt.Errorf("BUG: speculation: the ranks have %d different results", len(j.digests))
		}
		for d := range maps.Keys(j.digests) {
			ends[i] = d
		}
		if duplicates {
			r.With = j.times()
			r.count(j)
		} else {
			r.Without = j.times()
		}
	}
	if ends[0] != ends[1] {
		return nil, errors.New("BUG: speculation: with duplicates the result is another one")
	}
	return r, nil
}

// job returns a run of the experiment.
func (r *Result) job(duplicates bool) *job {
	j := &job{
		cfg: &r.Config, duplicates: duplicates, slowFrom: map[int]int{}, digests: map[[32]byte]bool{},
		finished: map[int]bool{}, done: make(chan struct{}), ends: make([]time.Time, r.Config.Passes),
	}
	for range r.Config.Passes {
		j.passes = append(j.passes, make([]entry, r.Config.Ranks))
	}
	for _, rank := range r.Early {
		j.slowFrom[rank] = 1
	}
	for _, rank := range r.Late {
		j.slowFrom[rank] = laterFrom
	}
	return j
}

// bounded runs a job and fails if the job takes many times its expected time.
func (j *job) bounded(ctx context.Context) error {
	limit := j.cfg.Within + time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("speculation: the job has not ended within %v", limit))
	defer cancel()
	err := j.run(ctx)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return err
}

// times summarises a run.
func (j *job) times() (t Times) {
	var all, communication []time.Duration
	before := j.began
	for n, pass := range j.passes {
		last := before
		for _, e := range pass {
			if e.attempt == nil {
				continue // a new attempt has taken the result of the pass from another rank
			}
			all = append(all, e.ready.Sub(before))
			if e.ready.After(last) {
				last = e.ready
			}
		}
		communication = append(communication, j.ends[n].Sub(last))
		before = j.ends[n]
	}
	slices.Sort(all)
	slices.Sort(communication)
	at := func(q float64) time.Duration { return all[int(q*float64(len(all)-1)+0.5)] }
	return Times{
		Low: at(0.05), Median: at(0.5), Upper: at(0.75), High: at(0.95), Max: at(1),
		Communication: communication[len(communication)/2], All: before.Sub(j.began),
	}
}

// count counts the duplicates that replaced a rank.
func (r *Result) count(j *job) {
	for _, a := range j.attempts {
		if a.duplicate {
			r.Duplicates++
		}
	}
	for rank := range r.Config.Ranks {
		first := slices.IndexFunc(j.passes, func(pass []entry) bool {
			a := pass[rank].attempt
			return a != nil && a.duplicate
		})
		switch {
		case first == 0:
			r.Overtaken++
		case first > 0:
			r.HandedOver++
		}
	}
}
