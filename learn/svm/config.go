// SPDX-License-Identifier: Apache-2.0

package svm

import (
	"errors"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/feature"
)

// MaxSize is the greatest Config.Size.
const MaxSize = 1 << 32

// defaultLambda is the default of Config.Lambda.
const defaultLambda = 1e-4

// defaultT0 is the offset of the learning rate without Tune: the first step is as long as 1/Lambda per
// hundred examples.
const defaultT0 = 100

// Config describes a model.
type Config struct {
	Size    int     // number of weights; required. Indices of features are below it
	Lambda  float64 // factor of λ/2·|w|², per example; 0: 1e-4
	T0      float64 // offset of the learning rate 1/(λ(t+t0)), in examples, above 1; 0: 100. Tune finds a good one
	Average bool    // predict with the mean of all weights since AverageFrom
	// AverageFrom is the number of examples after which the mean begins. 0: from the first example on.
	AverageFrom int
	Steps       int // examples from which Weights have learned; 0: none
	// Weights is the memory of the weights, Size long, and their first values. nil: New allocates it.
	Weights []float32 `json:"-"`
}

// Validate reports all faults.
func (c Config) Validate() error {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("svm.Config."+format, args...))
		}
	}
	fault(c.Size < 1 || c.Size > MaxSize, "Size: got %d, want 1 to %d", c.Size, MaxSize)
	fault(!(c.Lambda >= 0) || math.IsInf(c.Lambda, 0), "Lambda: got %v, want a number above 0, or 0 for %v", c.Lambda, defaultLambda)
	fault(c.T0 != 0 && !(c.T0 > 1) || math.IsInf(c.T0, 0), "T0: got %v, want a number above 1, or 0 for %v", c.T0, defaultT0)
	fault(c.AverageFrom < 0, "AverageFrom: got %d, want 0 or more examples", c.AverageFrom)
	fault(c.AverageFrom > 0 && !c.Average, "AverageFrom: got %d without Average, which it would not change", c.AverageFrom)
	fault(c.Steps < 0, "Steps: got %d, want 0 or more examples", c.Steps)
	fault(c.Weights != nil && len(c.Weights) != c.Size, "Weights: got %d, want Size: %d", len(c.Weights), c.Size)
	return errors.Join(errs...)
}

// withDefaults returns the configuration with its defaults.
func (c Config) withDefaults() Config {
	if c.Lambda == 0 {
		c.Lambda = defaultLambda
	}
	if c.T0 == 0 {
		c.T0 = defaultT0
	}
	return c
}

// Example is a labelled example. Of a label only the sign counts: above 0 is the positive class.
type Example struct {
	Label    float32
	Weight   float32 // importance; 0 and below: Update ignores the example
	Features []feature.Feature
}

// sign returns 1 or -1.
func (ex Example) sign() float64 {
	if ex.Label > 0 {
		return 1
	}
	return -1
}
