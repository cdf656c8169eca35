// SPDX-License-Identifier: Apache-2.0

package masgd

import (
	"errors"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/internal/fmath"
	"github.com/gvw-project/gvw/loss"
)

// Config configures the steps. Loss and Rate are needed, and other fields may be 0.
type Config struct {
	Loss      loss.Loss
	Rate      float64 // η of the first step, above 0
	PowerT    float64 // exponent of the decay of the rate with the number of steps; 0: no decay
	Invariant bool    // updates that respect importance weights; false: plain gradients
	L1, L2    float64 // regularisation of the mean loss; 0: none
	Batch     int     // examples of a local step; 0: 1
	// ConstantRate keeps the rate during a round, as control variates need it.
	ConstantRate bool
}

// Validate reports all faults.
func (c Config) Validate() error {
	var faults []error
	check := func(ok bool, field string, value any, want string) {
		if !ok {
			faults = append(faults, fmt.Errorf("masgd: %s: got %v, want %s", field, value, want))
		}
	}
	finite := func(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }
	check(c.Loss != nil, "Loss", c.Loss, "a loss function")
	check(finite(c.Rate) && c.Rate > 0, "Rate", c.Rate, "a finite number above 0")
	check(finite(c.PowerT) && c.PowerT >= 0, "PowerT", c.PowerT, "a finite number, 0 or more")
	check(finite(c.L1) && c.L1 >= 0, "L1", c.L1, "a finite number, 0 or more")
	check(finite(c.L2) && c.L2 >= 0, "L2", c.L2, "a finite number, 0 or more")
	check(c.Batch >= 0, "Batch", c.Batch, "a number of examples, 0 or more")
	check(c.Batch <= 1 || !c.Invariant, "Invariant", c.Invariant, "false with a Batch above 1: a batch makes one plain step")
	return errors.Join(faults...)
}

// RateAt returns η after t steps.
func (c *Config) RateAt(t float64) float64 {
	switch c.PowerT {
	case 0:
		return c.Rate
	case 0.5:
		return c.Rate / math.Sqrt(t+1)
	}
	return c.Rate * fmath.Exp(-c.PowerT*fmath.Log(t+1))
}

// truncate moves w towards 0 by shift, and not beyond.
func truncate(w, shift float64) float64 {
	switch {
	case w > shift:
		return w - shift
	case w < -shift:
		return w + shift
	}
	return 0
}
