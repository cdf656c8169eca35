// SPDX-License-Identifier: Apache-2.0

package descent

import (
	"errors"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/optim"
)

// Config has the parameters of a descent.
type Config struct {
	// Penalty is the regulariser. Zero: none.
	Penalty Penalty
	// Termination ends the run when an iteration lowers the loss by less than
	// this fraction of it; vw's default is 0.001. 0: never.
	Termination float64
	// MaxPasses is the number of passes over the data, curvature passes
	// included. At least 2.
	MaxPasses int
	// Curvature requests a curvature pass along every direction, which finds the step. False:
	// only along the first one, and later steps begin at 1.
	Curvature bool
	// Mixes reports that the method mixes directions; only the trace uses it.
	Mixes bool
	// Semantics is the version of vw to agree with. Zero: 7.10.
	Semantics optim.Semantics
}

// DefaultTermination is vw's default.
const DefaultTermination = 0.001

// Validate reports all faults for n weights.
func (c *Config) Validate(n int) error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !(c.Termination >= 0) || math.IsInf(c.Termination, 0) {
		fault("the termination threshold is %v: use a finite number that is not negative", c.Termination)
	}
	if c.MaxPasses < 2 {
		fault("%d passes: at least 2 are needed, one for the gradient and one for the curvature", c.MaxPasses)
	}
	if c.Semantics > optim.VW9 {
		fault("the semantics are %v: use vw7 or vw9", c.Semantics)
	}
	return errors.Join(append(errs, c.Penalty.validate(n))...)
}
