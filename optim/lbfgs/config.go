// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
)

// Config has the parameters of the solver.
type Config struct {
	// Mem is the number of pairs that form the direction. More pairs mean fewer passes and 8
	// bytes per weight each; vw's default is 15. 0 is refused: in vw it means conjugate
	// gradients (package cg).
	Mem int
	// Penalty is the regulariser. Zero: none.
	Penalty descent.Penalty
	// Termination ends the run when an iteration lowers the loss by less than
	// this fraction of it; vw's default is 0.001. 0: never.
	Termination float64
	// MaxPasses is the number of passes over the data, curvature passes
	// included. At least 2.
	MaxPasses int
	// HessianOn requests a curvature pass along every direction, which finds the step: twice
	// the passes, rarely a refused step. False: only along the first one.
	HessianOn bool
	// Semantics is the version of vw to agree with. Zero: 7.10.
	Semantics optim.Semantics
}

// Defaults of vw 7.10.
const (
	DefaultMem         = 15
	DefaultTermination = descent.DefaultTermination
)

// maxMem bounds Mem, because a larger number is probably a typing error.
const maxMem = 10_000

func (c *Config) descent() descent.Config {
	return descent.Config{
		Penalty: c.Penalty, Termination: c.Termination, MaxPasses: c.MaxPasses,
		Curvature: c.HessianOn, Semantics: c.Semantics,
	}
}

// Validate reports all faults of the configuration for n weights.
func (c *Config) Validate(n int) error {
	var errs []error
	switch {
	case c.Mem == 0:
		errs = append(errs, fmt.Errorf("a memory of 0 pairs selects conjugate gradients instead of L-BFGS: use 1 or more (vw's default is %d)", DefaultMem))
	case c.Mem < 0 || c.Mem > maxMem:
		errs = append(errs, fmt.Errorf("a memory of %d pairs: use 1 to %d", c.Mem, maxMem))
	}
	d := c.descent()
	if err := errors.Join(append(errs, d.Validate(n))...); err != nil {
		return fmt.Errorf("lbfgs: %w", err)
	}
	return nil
}
