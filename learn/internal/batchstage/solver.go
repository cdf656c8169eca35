// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/cg"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/lbfgs"
	"github.com/gvw-project/gvw/optim/newton"
)

// batchSolver is a solver that gives access to its weights.
type batchSolver interface {
	optim.Solver
	Weights() []float32
}

// Method is the kind of a batch solver.
type Method uint8

const (
	Pairs  Method = iota // L-BFGS, or conjugate gradients without pairs
	Newton               // Newton's method on the sums of all ranks
	GIANT                // the mean of the ranks' Newton directions
	Auto                 // one of the three, chosen after the first pass
)

// SolverConfig selects the batch solver, the function that it minimises, and its end.
type SolverConfig struct {
	Mem         int             // pairs of L-BFGS; 0: conjugate gradients
	Penalty     descent.Penalty // includes the prior of --input_feature_regularizer
	Termination float64         // relative decrease of the loss below which the solver stops
	HessianOn   bool            // a curvature pass along every direction determines the step
	Semantics   optim.Semantics

	Method Method
	Sample float64 // share of the examples in products with the Hessian; 0: all
	Seed   uint64  // of the sample
}

// name returns the name of the solver for messages.
func (c *SolverConfig) name() string {
	switch {
	case c.Method == Newton:
		return "Newton"
	case c.Method == GIANT:
		return "GIANT"
	case c.Method == Auto:
		return "auto"
	case c.Mem == 0:
		return "CG"
	}
	return "L-BFGS"
}

// solver returns a solver that starts at w and owns it from then on.
func (c *SolverConfig) solver(w []float32, passes int) (batchSolver, error) {
	switch {
	case c.Method == Newton || c.Method == GIANT:
		return newton.New(c.newton(passes), w)
	case c.Mem == 0:
		return cg.New(c.cg(passes), w)
	}
	return lbfgs.New(c.lbfgs(passes), w)
}

// validate reports the faults of the settings for n weights.
func (c *SolverConfig) validate(n, passes int) error {
	switch {
	case c.Method == Newton || c.Method == GIANT:
		settings := c.newton(passes)
		return settings.Validate(n)
	case c.Mem == 0:
		settings := c.cg(passes)
		return settings.Validate(n)
	}
	settings := c.lbfgs(passes)
	return settings.Validate(n)
}

// restore returns a solver that continues from a state.
func (c *SolverConfig) restore(st solverState, passes int) (batchSolver, error) {
	switch {
	case st.newton != nil:
		return newton.Restore(c.newton(passes), *st.newton)
	case st.lbfgs != nil:
		return lbfgs.Restore(c.lbfgs(passes), *st.lbfgs)
	}
	return cg.Restore(c.cg(passes), *st.cg)
}

func (c *SolverConfig) cg(passes int) cg.Config {
	return cg.Config{Penalty: c.Penalty, Termination: c.Termination, MaxPasses: passes, Semantics: c.Semantics}
}

func (c *SolverConfig) lbfgs(passes int) lbfgs.Config {
	return lbfgs.Config{
		Mem: c.Mem, Penalty: c.Penalty, Termination: c.Termination, MaxPasses: passes,
		HessianOn: c.HessianOn, Semantics: c.Semantics,
	}
}

func (c *SolverConfig) newton(passes int) newton.Config {
	return newton.Config{
		Penalty: c.Penalty, Termination: c.Termination, MaxPasses: passes, Average: c.Method == GIANT,
		Matrix: c.Method == Newton && c.Sample == 0,
	}
}

// quadratic returns what the solver needs of the second order between passes; nil: nothing.
func (c *SolverConfig) quadratic() *quadratic {
	q := &quadratic{fraction: 1, seed: c.Seed}
	if c.Sample > 0 {
		q.fraction = c.Sample
	} else if c.Method == Auto {
		q.fraction = defaultSample // in case that Newton is chosen
	}
	if c.Method == GIANT || c.Method == Auto || c.Method == Newton && q.sampled() {
		return q
	}
	return nil
}
