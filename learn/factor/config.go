// SPDX-License-Identifier: Apache-2.0

package factor

import (
	"errors"
	"fmt"
	"math"
)

// MaxFactors is the greatest Config.Factors.
const MaxFactors = 4096

// Defaults of Config.
const (
	defaultFactors = 10
	defaultRate    = 0.01
	defaultLambda  = 0.05
)

// Config describes a model.
type Config struct {
	Users, Items int     // numbers of rows; required
	Factors      int     // factors of a row; 0: 10
	OnlyBiases   bool    // leave the factors out of predictions
	Rate         float64 // length of a step in the first pass; 0: 0.01
	Decay        float64 // the rate of pass n, from 0, is Rate/(1 + Decay·n); 0: it stays
	Lambda       float64 // L2 regularisation, per rating; 0: 0.05
	Mean         float64 // constant part of predictions, such as the mean of all ratings
	Low, High    float64 // limits of predictions; both 0: none
	Seed         uint64  // of the first factors

	// UserIDs and ItemIDs are the caller's numbers of the rows, which are kept with the model. nil: none.
	UserIDs, ItemIDs []uint32 `json:"-"`
	// UserRows and ItemRows are the memory of the rows, each RowSize long. nil: New allocates them.
	UserRows, ItemRows []float32 `json:"-"`
	// Continue keeps the contents of UserRows and ItemRows. False: New sets the initial biases and factors.
	Continue bool `json:"-"`
}

// RowSize returns the length of a row: a bias and the factors.
func (c Config) RowSize() int { return c.withDefaults().Factors + 1 }

// Validate reports all faults.
func (c Config) Validate() error {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("factor.Config."+format, args...))
		}
	}
	number := func(name string, x, def float64) {
		fault(!(x >= 0) || math.IsInf(x, 0), "%s: got %v, want a number above 0, or 0 for %v", name, x, def)
	}
	fault(c.Users < 1 || c.Users > math.MaxInt32, "Users: got %d, want 1 to %d", c.Users, math.MaxInt32)
	fault(c.Items < 1 || c.Items > math.MaxInt32, "Items: got %d, want 1 to %d", c.Items, math.MaxInt32)
	fault(c.Factors < 0 || c.Factors > MaxFactors, "Factors: got %d, want 1 to %d, or 0 for %d", c.Factors, MaxFactors, defaultFactors)
	number("Rate", c.Rate, defaultRate)
	number("Decay", c.Decay, 0)
	number("Lambda", c.Lambda, defaultLambda)
	fault(math.IsNaN(c.Mean) || math.IsInf(c.Mean, 0), "Mean: got %v, want a finite number", c.Mean)
	fault(!(c.Low <= c.High), "High: got %v, want at least Low: %v", c.High, c.Low)
	fault(len(errs) == 0 && uint64(max(c.Users, c.Items))*uint64(c.RowSize()) > math.MaxInt/8, "Factors: got %d for %d users and %d items, which do not fit the address space", c.Factors, c.Users, c.Items)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	sized := func(name string, got, want int) {
		fault(got != 0 && got != want, "%s: got %d numbers, want %d", name, got, want)
	}
	sized("UserIDs", len(c.UserIDs), c.Users)
	sized("ItemIDs", len(c.ItemIDs), c.Items)
	sized("UserRows", len(c.UserRows), c.Users*c.RowSize())
	sized("ItemRows", len(c.ItemRows), c.Items*c.RowSize())
	fault(c.Continue && (c.UserRows == nil || c.ItemRows == nil), "Continue: got no UserRows and ItemRows from which to continue")
	return errors.Join(errs...)
}

// withDefaults returns the configuration with its defaults.
func (c Config) withDefaults() Config {
	if c.Factors == 0 {
		c.Factors = defaultFactors
	}
	if c.Rate == 0 {
		c.Rate = defaultRate
	}
	if c.Lambda == 0 {
		c.Lambda = defaultLambda
	}
	return c
}
