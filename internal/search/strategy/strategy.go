// SPDX-License-Identifier: Apache-2.0

package strategy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Job is one training.
type Job struct {
	Trial    int      // number of the trial, from 0
	Resource int      // passes or examples; 0: those of the command
	Values   []string // by dimension of the space
}

// Strategy decides which jobs are run. It must return the same jobs for the same calls.
type Strategy interface {
	// Next returns the next job. ok is false if the strategy first needs the loss of a job that
	// it has returned, or, if it has those of all, at the end of the search.
	Next() (j Job, ok bool)
	// Report adds the loss of a job, infinite if it failed. Each job that Next has returned is reported once.
	Report(j Job, loss float64)
}

// Config has the settings that strategies share.
type Config struct {
	Space  Space
	Seed   uint64
	Trials int   // points of the space that are tried, at least 1
	Eta    int   // 1/Eta of the trials of a rung continue, at least 2
	Rungs  []int // increasing amounts of the resource, at least one; a single 0: the resource is not limited
}

// sample returns the first job of a trial.
func (c *Config) sample(trial, resource int) Job {
	return Job{Trial: trial, Resource: resource, Values: c.Space.Sample(c.Seed, trial)}
}

// Rungs returns the amounts of the resource: most, and most/eta, most/eta², ..., rounded up, down to
// at least least. It panics unless 1 ≤ least ≤ most and eta ≥ 2.
func Rungs(least, most, eta int) []int {
	if least < 1 || most < least || eta < 2 {
		panic(fmt.Sprintf("BUG: strategy: rungs from %d to %d by %d", least, most, eta))
	}
	rungs := []int{most}
	for divisor := float64(eta); ; divisor *= float64(eta) {
		r := int(math.Ceil(float64(most) / divisor))
		if float64(most)/divisor < float64(least) || r >= rungs[len(rungs)-1] {
			slices.Reverse(rungs)
			return rungs
		}
		rungs = append(rungs, r)
	}
}

// Random tries each trial once, with the greatest amount of the resource.
type Random struct {
	cfg  Config
	next int
}

// NewRandom returns a random search.
func NewRandom(cfg Config) *Random { return &Random{cfg: cfg} }

// Next returns the next trial.
func (r *Random) Next() (Job, bool) {
	if r.next == r.cfg.Trials {
		return Job{}, false
	}
	r.next++
	return r.cfg.sample(r.next-1, r.cfg.Rungs[len(r.cfg.Rungs)-1]), true
}

// Report does nothing: no decision depends on losses.
func (r *Random) Report(Job, float64) {}

// finished is a job with its loss.
type finished struct {
	Job
	loss     float64
	promoted bool
}

// byLoss orders jobs by loss. Of equal losses the earlier trial comes first; NaN and failures come last.
func byLoss(a, b finished) int {
	return cmp.Or(cmp.Compare(rank(a.loss), rank(b.loss)), cmp.Compare(a.Trial, b.Trial))
}

// rank returns the loss, or infinity for NaN.
func rank(loss float64) float64 {
	if math.IsNaN(loss) {
		return math.Inf(1)
	}
	return loss
}

// failed reports whether the job has no loss.
func (f finished) failed() bool { return math.IsInf(rank(f.loss), 1) }

// promotable returns the index of the best job among the first n that has not been promoted and
// has not failed, or -1. jobs is in order.
func promotable(jobs []finished, n int) int {
	for i := range jobs[:min(n, len(jobs))] {
		if !jobs[i].promoted && !jobs[i].failed() {
			return i
		}
	}
	return -1
}

// insert adds a job to the ordered jobs.
func insert(jobs []finished, f finished) []finished {
	at, _ := slices.BinarySearchFunc(jobs, f, byLoss)
	return slices.Insert(jobs, at, f)
}

// ASHA promotes a trial as soon as it is among the best 1/Eta of its rung, and otherwise begins
// another trial. If no trial would reach the last rung, the best of the highest rung continues.
type ASHA struct {
	cfg     Config
	sampled int
	pending int
	rungs   [][]finished // finished jobs, best first
}

// NewASHA returns a search by asynchronous successive halving.
func NewASHA(cfg Config) *ASHA {
	return &ASHA{cfg: cfg, rungs: make([][]finished, len(cfg.Rungs))}
}

// Next returns a promotion, the highest rung first, or the next trial.
func (a *ASHA) Next() (Job, bool) {
	last := len(a.rungs) - 1
	for k := last - 1; k >= 0; k-- {
		if i := promotable(a.rungs[k], len(a.rungs[k])/a.cfg.Eta); i >= 0 {
			return a.promote(k, i), true
		}
	}
	if a.sampled < a.cfg.Trials {
		a.sampled++
		a.pending++
		return a.cfg.sample(a.sampled-1, a.cfg.Rungs[0]), true
	}
	if a.pending > 0 || len(a.rungs[last]) > 0 {
		return Job{}, false
	}
	for k := last - 1; k >= 0; k-- { // too few trials for a promotion by share
		if i := promotable(a.rungs[k], len(a.rungs[k])); i >= 0 {
			return a.promote(k, i), true
		}
	}
	return Job{}, false
}

// promote returns the next job of trial i of a rung.
func (a *ASHA) promote(k, i int) Job {
	a.rungs[k][i].promoted = true
	a.pending++
	j := a.rungs[k][i].Job
	j.Resource = a.cfg.Rungs[k+1]
	return j
}

// Report adds a loss to its rung.
func (a *ASHA) Report(j Job, loss float64) {
	a.pending--
	k := slices.Index(a.cfg.Rungs, j.Resource)
	a.rungs[k] = insert(a.rungs[k], finished{Job: j, loss: loss})
}
