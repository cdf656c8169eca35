// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// Config describes the job. The zero value is valid.
type Config struct {
	// Ranks is the number of ranks, at least 4; 0 means 20.
	Ranks int
	// Passes is the number of passes of each run, at least 2; 0 means 8.
	Passes int
	// Pass is the duration of a healthy rank's pass, ±10 %; 0 means 80 ms.
	Pass time.Duration
	// Slow is the share of slow ranks, up to a third; 0 means a tenth. At least one rank is
	// slow.
	Slow float64
	// Factor is the ratio of a slow rank's pass to a healthy one's, above 1; 0 means 10.
	Factor float64
	// Floats is the length of the vector that is summed after each pass; 0 means 65536.
	Floats int
	// Seed selects the slow ranks; 0 is a valid seed.
	Seed uint64
	// Processes says that each attempt is a process of this program, slowed by GVW_FAULT, at most 100 at a time. False: a
	// goroutine.
	Processes bool
	// Within bounds the time of both runs together: Validate refuses a longer job; 0 means 20
	// s.
	Within time.Duration
	// Log receives the log of the server and the ranks; nil discards it.
	Log *slog.Logger

	network transport.Network // carries all connections; nil: transport.TCP
}

const (
	// laterFrom is the first slow pass of the second half of the slow ranks.
	laterFrom = 3
	// jitter is the relative variation of a rank's passes, up or down.
	jitter = 0.1
)

func (c Config) withDefaults() Config {
	c.Ranks = cmp.Or(c.Ranks, 20)
	c.Passes = cmp.Or(c.Passes, 8)
	c.Pass = cmp.Or(c.Pass, 80*time.Millisecond)
	c.Slow = cmp.Or(c.Slow, 0.1)
	c.Factor = cmp.Or(c.Factor, 10)
	c.Floats = cmp.Or(c.Floats, 1<<16)
	c.Within = cmp.Or(c.Within, 20*time.Second)
	if c.network == nil {
		c.network = transport.TCP
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports all faults of c.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("speculation: "+format, args...)) }
	if c.Ranks < 4 || c.Ranks > 1000 {
		fault("Ranks: got %d, want 4 to 1000", c.Ranks)
	}
	if c.Processes && c.Ranks > 100 {
		fault("Ranks: got %d processes, want 4 to 100", c.Ranks)
	}
	if c.Passes < 2 {
		fault("Passes: got %d, want 2 or more", c.Passes)
	}
	if c.Pass < 10*time.Millisecond {
		fault("Pass: got %v, want 10 ms or more: less is lost in the noise", c.Pass)
	}
	if !(c.Slow > 0 && c.Slow <= 1.0/3) {
		fault("Slow: got %v, want a share above 0 and up to a third: slow is who differs from most", c.Slow)
	}
	if !(c.Factor > 1 && c.Factor <= 1000) {
		fault("Factor: got %v, want above 1 and up to 1000", c.Factor)
	}
	if c.Floats < 1 || c.Floats > 1<<26 {
		fault("Floats: got %d, want 1 to %d", c.Floats, 1<<26)
	}
	if c.Within < 0 {
		fault("Within: got %v, want a time", c.Within)
	}
	if t := c.atMost(); errs == nil && t > c.Within {
		fault("two runs of %d passes, each as long as the slowest rank, may take %v, and Within is %v: take fewer or shorter passes, a smaller factor, or more time",
			c.Passes, t.Round(time.Millisecond), c.Within)
	}
	return errors.Join(errs...)
}

// atMost returns the time of both runs if nothing helps the slow ranks.
func (c Config) atMost() time.Duration {
	return time.Duration(2 * float64(c.Passes) * float64(c.Pass) * c.Factor * (1 + jitter))
}

// slow returns the number of slow ranks.
func (c Config) slow() int { return max(1, int(math.Round(c.Slow*float64(c.Ranks)))) }
