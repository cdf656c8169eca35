// SPDX-License-Identifier: Apache-2.0

package straggler

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Config describes a job.
type Config struct {
	// Ranks is the number of ranks, 1 to [MaxRanks]. Required.
	Ranks int
	// Passes is the number of passes, 2 to [MaxPasses]. Required.
	Passes int
	// Work is the time of a pass over all data on one usual host. Required.
	Work time.Duration
	// Exchange is the time of the all-reduce after a pass. 0: none.
	Exchange time.Duration
	// Hosts has the times of hosts relative to a usual one. nil: all are usual.
	Hosts Table
	// Speculate is the multiple of the median time of a pass after which a launcher starts another attempt of a rank, at
	// least 1. 0: never.
	Speculate float64
	// SlowFactor is the server's --slow_factor. 0: 2.
	SlowFactor float64
	// Seed of the random hosts.
	Seed uint64
}

const (
	// MaxRanks and MaxPasses are the limits of a job.
	MaxRanks, MaxPasses = 10_000, 1000
	// slowPasses is the number of passes after which the server hands a slow rank over.
	slowPasses = 2
)

// Result is the outcome of a job.
type Result struct {
	// First and Last are the times of the slowest rank in the first pass and in the last one.
	First, Last time.Duration
	// Later are the times of all ranks in all later passes, ascending.
	Later []time.Duration
	// Total is the time of all passes with their exchanges.
	Total time.Duration
	// Attempts is the number of second attempts.
	Attempts int

	single time.Duration // time of the job on one usual host
}

// Quantile returns the time of a later pass that a share of all ranks and passes does not exceed, 0 to 1.
func (r *Result) Quantile(share float64) time.Duration {
	i := int(share * float64(len(r.Later)))
	return r.Later[min(i, len(r.Later)-1)]
}

// SpeedUp returns the time of one usual host, which exchanges nothing, over that of the job.
func (r *Result) SpeedUp() float64 { return r.single.Seconds() / r.Total.Seconds() }

// Validate reports all faults of c.
func (c Config) Validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("straggler: "+format, args...)) }
	if c.Ranks < 1 || c.Ranks > MaxRanks {
		fault("Ranks: got %d, want 1 to %d", c.Ranks, MaxRanks)
	}
	if c.Passes < 2 || c.Passes > MaxPasses {
		fault("Passes: got %d, want 2 to %d", c.Passes, MaxPasses)
	}
	if c.Work <= 0 || c.Work > 10*365*24*time.Hour || c.Exchange < 0 || c.Exchange > 24*time.Hour {
		fault("Work and Exchange: got %v and %v, want up to ten years and up to a day", c.Work, c.Exchange)
	}
	if c.Speculate != 0 && !(c.Speculate >= 1 && c.Speculate <= 1e6) {
		fault("Speculate: got %g, want 0, or 1 or more", c.Speculate)
	}
	if c.SlowFactor != 0 && !(c.SlowFactor > 1 && c.SlowFactor <= 1e6) {
		fault("SlowFactor: got %g, want above 1", c.SlowFactor)
	}
	return errors.Join(append(errs, c.Hosts.Validate())...)
}

// rank is the state of a rank: the factors of the hosts of its attempts.
type rank struct {
	holder  float64
	standby float64 // 0: there is none
	slow    int     // successive slow passes of the holder
}

// Run simulates a job.
func Run(cfg Config) (*Result, error) {
	if cfg.SlowFactor == 0 {
		cfg.SlowFactor = 2
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(cfg.Seed, 22))
	host := func() float64 { return cfg.Hosts.at(1 - rng.Float64()) } // (0, 1]
	ranks := make([]rank, cfg.Ranks)
	for i := range ranks {
		ranks[i].holder = host()
	}
	share := float64(cfg.Work) / float64(cfg.Ranks)
	r := &Result{single: time.Duration(cfg.Passes) * cfg.Work}
	factors, times := make([]float64, cfg.Ranks), make([]time.Duration, cfg.Ranks)
	for pass := range cfg.Passes {
		for i := range ranks {
			factors[i] = ranks[i].holder
		}
		slices.Sort(factors)
		median := factors[len(factors)/2]
		for i := range ranks {
			times[i] = time.Duration(share * ranks[i].pass(cfg, pass, median, host, r))
		}
		slowest := slices.Max(times)
		r.Total += slowest + cfg.Exchange
		r.Last = slowest
		if pass == 0 {
			r.First = slowest
		} else {
			r.Later = append(r.Later, times...)
		}
	}
	slices.Sort(r.Later)
	return r, nil
}

// pass makes a pass of a rank. It returns the time until the rank is ready, relative to that of a usual host.
func (k *rank) pass(cfg Config, pass int, median float64, host func() float64, r *Result) float64 {
	ready := k.holder
	if limit := cfg.Speculate * median; cfg.Speculate > 0 && k.holder > limit && k.standby == 0 {
		k.standby = host()
		r.Attempts++
		if other := limit + k.standby; pass == 0 && other < ready { // the race of the first pass
			ready = other
			k.holder, k.standby = k.standby, 0
		}
	}
	if k.slow++; k.holder <= cfg.SlowFactor*median {
		k.slow = 0
	}
	if k.slow >= slowPasses && k.standby > 0 {
		if k.standby < k.holder {
			k.holder = k.standby
		}
		k.standby, k.slow = 0, 0 // a standby that is no faster gives way to another attempt
	}
	return ready
}
