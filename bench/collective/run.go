// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"context"
	"fmt"
	"slices"
)

// system is one of the systems that are compared.
type system interface {
	// name returns the system and its schedule; a peer's schedule may be unknown.
	name() (system, schedule string)
	// turn measures every size that the system supports.
	turn(ctx context.Context) ([]Batch, error)
	// close removes the files that the system has made.
	close() error
}

// Figure is the cost of an all-reduce of one size by one system.
type Figure struct {
	System    string  `json:"system"`
	N         int     `json:"n"`
	Transport string  `json:"transport"`
	Schedule  string  `json:"schedule"`
	Bytes     int     `json:"bytes"`
	Calls     int     `json:"calls"`     // of all batches
	MedianUS  float64 `json:"median_us"` // microseconds per call, over the batches
	BestUS    float64 `json:"best_us"`
	CPUUS     float64 `json:"cpu_us"` // microseconds per call, summed over all ranks; median
}

// Absent names a peer that could not be measured in some or all turns. Why gives the reason or
// how to install it.
type Absent struct{ System, Why string }

// Result holds the figures of a Run.
type Result struct {
	Config  Config // defaults filled in
	Figures []Figure
	Absent  []Absent
}

// Run measures what cfg selects. A failing peer is noted in the result; a failure of ours is an
// error.
func Run(ctx context.Context, cfg Config) (r *Result, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	r = &Result{Config: cfg}
	var systems []system
	for _, s := range cfg.Schedules {
		systems = append(systems, &ours{cfg: cfg, schedule: s})
		if cfg.Alloc {
			systems = append(systems, &ours{cfg: cfg, schedule: s, alloc: true})
		}
		if cfg.Secret {
			systems = append(systems, &ours{cfg: cfg, schedule: s, secret: true})
		}
		if cfg.TLS {
			systems = append(systems, &ours{cfg: cfg, schedule: s, tls: true})
		}
	}
	if cfg.Peers {
		var found []system
		found, r.Absent = peers(ctx, cfg)
		systems = append(systems, found...)
	}
	defer func() {
		for _, s := range systems {
			if cerr := s.close(); err == nil {
				err = cerr
			}
		}
	}()
	return r, r.measure(ctx, systems)
}

// measure runs the systems in turns. Some turns of a peer may fail; the results of its other
// turns are kept.
func (r *Result) measure(ctx context.Context, systems []system) error {
	cfg := r.Config
	batches := make([][]Batch, len(systems))
	failures := make([]int, len(systems))
	last := make([]error, len(systems))
	for round := range cfg.Rounds {
		for k := range systems {
			i := (k + round) % len(systems) // rotate, so that no system always runs after the same one
			s := systems[i]
			system, schedule := s.name()
			cfg.Log.Info("measuring", "round", round+1, "of", cfg.Rounds, "system", system, "schedule", schedule)
			got, err := take(ctx, s, cfg)
			if _, own := s.(*ours); err != nil && (own || ctx.Err() != nil) {
				return fmt.Errorf("collective: %s %s over %s: %w", system, schedule, cfg.Transport, err)
			}
			if err != nil {
				failures[i], last[i] = failures[i]+1, err
			}
			batches[i] = append(batches[i], got...)
		}
	}
	for i, s := range systems {
		r.Figures = append(r.Figures, figures(s, cfg, batches[i])...)
		if failures[i] > 0 {
			system, _ := s.name()
			r.Absent = append(r.Absent, Absent{system, fmt.Sprintf("%d of %d turns failed: %v", failures[i], cfg.Rounds, last[i])})
		}
	}
	return nil
}

func take(ctx context.Context, s system, cfg Config) ([]Batch, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.Patience, fmt.Errorf("not done after %v", cfg.Patience))
	defer cancel()
	return s.turn(ctx)
}

// figures returns one figure per size from the batches.
func figures(s system, cfg Config, batches []Batch) []Figure {
	system, schedule := s.name()
	var out []Figure
	for _, bytes := range cfg.Sizes {
		f := Figure{System: system, Schedule: schedule, N: cfg.Ranks, Transport: cfg.Transport, Bytes: bytes}
		var us, cpu []float64
		for _, b := range batches {
			if b.Bytes == bytes {
				f.Calls += b.Calls
				us, cpu = append(us, b.US), append(cpu, b.CPU)
			}
		}
		if len(us) == 0 {
			continue // the system does not support this size
		}
		f.MedianUS, f.BestUS, f.CPUUS = median(us), slices.Min(us), median(cpu)
		out = append(out, f)
	}
	return out
}

// median returns the middle element of v, or the mean of the two middle ones. It sorts v.
func median(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
