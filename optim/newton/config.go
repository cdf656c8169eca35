// SPDX-License-Identifier: Apache-2.0

package newton

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/optim/descent"
)

// Config has the parameters of the solver.
type Config struct {
	// Penalty is the regulariser. Zero: none.
	Penalty descent.Penalty
	// Termination ends the run when a step lowers the loss by less than this fraction of it, or
	// when the quadratic model promises no more than that. 0: never.
	Termination float64
	// MaxPasses is the number of requests. Each product counts. At least 2.
	MaxPasses int
	// Average asks for the mean of the ranks' own Newton directions (GIANT) instead of
	// products: two vectors a step. False: Newton's method on the sums of all ranks.
	Average bool
	// Matrix sums the Hessian as a matrix if at most MaxFeatures weights have curvature in the first
	// pass. A direction then takes no products. It excludes Average. False: products.
	Matrix bool
}

const (
	// Tolerance and MaxProducts end conjugate gradients: see CG.Next.
	Tolerance   = 0.1
	MaxProducts = 50

	// sufficient is the least share of the expected decrease for which a step is accepted, as
	// in liblinear.
	sufficient = 0.01

	// faithful is the least share with which the quadratic model counts as right.
	faithful = 0.25

	// searches bounds how often the steps of a trial are reduced before the run ends.
	searches = 3
)

// Steps that a trial evaluates in one pass. The first are for Newton's directions, of which the
// whole step has failed. The others are for means of directions, which may be too short.
var (
	shorter = [...]float64{0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625}
	around  = [...]float64{4, 3, 2, 1.5, 1, 0.75, 0.5, 0.25, 0.125}
)

// maxTrials bounds the steps of one trial.
const maxTrials = len(around)

// Validate reports all faults of the configuration for n weights.
func (c *Config) Validate(n int) error {
	d := descent.Config{Penalty: c.Penalty, Termination: c.Termination, MaxPasses: c.MaxPasses}
	err := d.Validate(n)
	if c.Average && c.Matrix {
		err = errors.Join(err, errors.New("a mean of directions needs no matrix: leave Matrix or Average out"))
	}
	if err != nil {
		return fmt.Errorf("newton: %w", err)
	}
	return nil
}
