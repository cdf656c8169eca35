// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
	"errors"
	"fmt"
	"math"
)

// Config is how to optimise.
type Config struct {
	// Mem is the number of pairs that the direction is made from. More pairs
	// mean fewer passes and 8 bytes per weight each; vw's default is 15. 0 is
	// refused: vw takes it for conjugate gradients.
	Mem int
	// L2 is λ: λ/2‖w‖² is added to the sum of the losses. 0: none.
	L2 float64
	// Termination ends the run when an iteration lowers the loss by less than
	// this fraction of it; vw's default is 0.001. 0: never.
	Termination float64
	// MaxPasses is the number of passes over the data, the curvature pass
	// included. At least 2.
	MaxPasses int
}

// Defaults of vw 7.10.
const (
	DefaultMem         = 15
	DefaultTermination = 0.001
)

// maxMem bounds Mem: beyond it a typing error is likelier than a plan.
const maxMem = 10_000

// Validate reports all faults of the configuration.
func (c Config) Validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("lbfgs: "+format, args...)) }
	switch {
	case c.Mem == 0:
		fault("a memory of 0 pairs asks for conjugate gradients, which L-BFGS is not: use 1 or more (vw's default is %d)", DefaultMem)
	case c.Mem < 0 || c.Mem > maxMem:
		fault("a memory of %d pairs: use 1 to %d", c.Mem, maxMem)
	}
	if !(c.L2 >= 0) || math.IsInf(c.L2, 0) {
		fault("the l2 regularisation is %v: use a finite number that is not negative", c.L2)
	}
	if !(c.Termination >= 0) || math.IsInf(c.Termination, 0) {
		fault("the termination threshold is %v: use a finite number that is not negative", c.Termination)
	}
	if c.MaxPasses < 2 {
		fault("%d passes: L-BFGS needs at least 2, one for the gradient and one for the curvature", c.MaxPasses)
	}
	return errors.Join(errs...)
}
