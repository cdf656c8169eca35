// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/cg"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/lbfgs"
)

// batchSolver is a solver that gives access to its weights.
type batchSolver interface {
	optim.Solver
	Weights() []float32
}

// SolverConfig selects the batch solver, the function that it minimises, and its end.
type SolverConfig struct {
	Mem         int             // pairs of L-BFGS; 0: conjugate gradients
	Penalty     descent.Penalty // includes the prior of --input_feature_regularizer
	Termination float64         // relative decrease of the loss below which the solver stops
	HessianOn   bool            // a curvature pass along every direction determines the step
	Semantics   optim.Semantics
}

// name returns the name of the solver for messages.
func (c *SolverConfig) name() string {
	if c.Mem == 0 {
		return "CG"
	}
	return "L-BFGS"
}

// solver returns a solver that starts at w and owns it from then on.
func (c *SolverConfig) solver(w []float32, passes int) (batchSolver, error) {
	if c.Mem == 0 {
		return cg.New(c.cg(passes), w)
	}
	return lbfgs.New(c.lbfgs(passes), w)
}

// restore returns a solver that continues from a state.
func (c *SolverConfig) restore(st solverState, passes int) (batchSolver, error) {
	if st.lbfgs != nil {
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
