// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"errors"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/internal/fmath"
	"github.com/gvw-project/gvw/option"
)

// Config is the effective update rule, with all defaults resolved.
// [Flags.Config] makes one from vw's options.
type Config struct {
	Bits       uint // log2 of the number of weights, 1 to 32
	Adaptive   bool // a learning rate per weight, by the sum of its squared gradients
	Normalized bool // indifferent to the scale of features
	Invariant  bool // importance-invariant updates; false: plain gradient steps

	LearningRate      float32 // eta; without Adaptive and Normalized it includes InitialT**PowerT. 0: the weights do not change
	PowerT            float32 // exponent of the rate's decay; 0: none
	InitialT          float32 // initial t; with Adaptive, the initial sum of squared gradients of every weight
	DecayLearningRate float32 // factor on the learning rate at the end of each pass; 1: none

	Adax   bool // Adaptive sums x² instead of g²·x²
	Masked bool // weights of 0 stay 0: those that start at another value are the mask

	SparseL2   float32 // L2 regularisation of the weights of the example at hand, by its prediction; 0: none
	L1, L2     float64 // regularisation, per update; 0: none. vw keeps them in float32, and so they are used
	FixedRange bool    // predictions are limited to the range they start with; false: it follows the labels
}

// FieldError is a fault of a field of [Config], or of the field of [Flags] with the same name.
type FieldError struct {
	Field string // name of the field, such as LearningRate
	Text  string // what it is, and what is wanted
}

func (e *FieldError) Error() string { return "sgd: " + e.Field + ": " + e.Text }

// Validate reports every fault of the configuration at once, each as a [*FieldError].
func (c *Config) Validate() error {
	var faults []error
	check := func(ok bool, field, format string, args ...any) {
		if !ok {
			faults = append(faults, &FieldError{field, fmt.Sprintf(format, args...)})
		}
	}
	check(c.Bits >= 1 && c.Bits <= 32, "Bits", "got %d, want 1 to 32, for 2^1 to 2^32 weights", c.Bits)
	check(finite(c.LearningRate) && c.LearningRate >= 0, "LearningRate", "got %v, want a finite number, 0 or more", c.LearningRate)
	check(finite(c.PowerT), "PowerT", "got %v, want a finite number", c.PowerT)
	check(finite(c.InitialT) && c.InitialT >= 0, "InitialT", "got %v, want a finite number, 0 or more", c.InitialT)
	check(finite(c.DecayLearningRate) && c.DecayLearningRate >= 0, "DecayLearningRate", "got %v, want a finite number, 0 or more (1 for no decay)", c.DecayLearningRate)
	check(c.Adaptive || !c.Adax, "Adax", "it changes the sums of Adaptive, which is not set: set Adaptive, or leave Adax out")
	check(finite(c.SparseL2), "SparseL2", "got %v, want a finite number", c.SparseL2)
	check(c.L1 >= 0, "L1", "got %v, want 0 or more", c.L1)
	check(c.L2 >= 0, "L2", "got %v, want 0 or more", c.L2)
	return errors.Join(faults...)
}

// Stride returns the number of floats that the rule keeps per weight.
func (c *Config) Stride() int {
	if c.Adaptive || c.Normalized {
		return 4
	}
	return 1
}

// plain reports whether the rule keeps only the weights.
func (c *Config) plain() bool { return !c.Adaptive && !c.Normalized }

// squareRoot reports whether rates are inverse square roots, which are exact
// and need no powers.
func (c *Config) squareRoot() bool { return c.PowerT == 0.5 }

// fakeWeight returns the weight of the examples that the normalised rule pretends
// to have seen before the first one, all of norm 1: InitialT, unless it is the
// 1 that the plain rules start at by default.
func (c *Config) fakeWeight() float64 {
	if c.plain() && c.InitialT == 1 {
		return 0
	}
	return float64(c.InitialT)
}

// Flags are vw's options, including those that are not given.
type Flags struct {
	Bits uint // log2 of the number of weights, 1 to 32; 0: 18

	// The rules, in any combination. None given: all of Adaptive, Normalized
	// and Invariant. SGD without another rule is the plain gradient step; beside one
	// it has no effect.
	SGD, Adaptive, Normalized, Invariant bool

	LearningRate option.Option[float32] // eta before the first example; not set: 0.5 or 10, by the rules, see Config
	PowerT       option.Option[float32] // exponent of the rate's decay; not set: 0.5
	InitialT     option.Option[float32] // initial t, as in Config; not set: 0 or 1, by the rules, see there

	DecayLearningRate float32 // factor on the learning rate at the end of each pass; 0: 1
	Adax              bool    // sums of x² instead of g²·x²; needs Adaptive, or no rule
	Masked            bool    // weights of 0 stay 0
	SparseL2          float32 // L2 regularisation of the weights of the current example; 0: none
	L1, L2            float64 // regularisation, per update; 0: none
	FixedRange        bool    // predictions are limited to the range they start with: a test run, or a range given by the user
}

// Validate reports every fault of the options at once, each as a [*FieldError]. If each option is
// in its range, Validate reports the faults of their combination: the learning rate of some rules
// is a product, which can overflow.
func (f Flags) Validate() error {
	given := f.unscaled()
	if err := given.Validate(); err != nil {
		return err
	}
	c := f.Config()
	return c.Validate()
}

// Config resolves vw's defaults:
//
//	learning rate  0.5; 10 if a rule was given, but not both --adaptive and --normalized
//	power_t        0.5
//	initial_t      0; 1 for the rules without --adaptive and --normalized,
//	               whose learning rate is then multiplied by initial_t**power_t
func (f Flags) Config() Config {
	c := f.unscaled()
	if c.plain() {
		c.LearningRate *= fmath.Pow32(c.InitialT, c.PowerT)
	}
	return c
}

// unscaled returns Config with the learning rate before its multiplication.
func (f Flags) unscaled() Config {
	c := Config{
		Bits:     f.Bits,
		Adaptive: f.Adaptive, Normalized: f.Normalized, Invariant: f.Invariant,
		LearningRate: 0.5, PowerT: 0.5, InitialT: 0,
		DecayLearningRate: f.DecayLearningRate,
		Adax:              f.Adax,
		Masked:            f.Masked,
		SparseL2:          f.SparseL2,
		L1:                f.L1, L2: f.L2,
		FixedRange: f.FixedRange,
	}
	if c.Bits == 0 {
		c.Bits = 18
	}
	if c.DecayLearningRate == 0 {
		c.DecayLearningRate = 1
	}
	given := f.SGD || f.Adaptive || f.Normalized || f.Invariant
	if !given {
		c.Adaptive, c.Normalized, c.Invariant = true, true, true
	}
	if given && !(f.Adaptive && f.Normalized) {
		c.LearningRate = 10
	}
	if c.plain() {
		c.InitialT = 1
	}
	c.LearningRate = f.LearningRate.Or(c.LearningRate)
	c.PowerT = f.PowerT.Or(c.PowerT)
	c.InitialT = f.InitialT.Or(c.InitialT)
	return c
}

// finite reports whether x is neither infinite nor NaN. It tests the bits, because a compiler
// that fuses operations may change the value of x-x.
func finite(x float32) bool { return math.Float32bits(x)&signless < 0x7f800000 }
