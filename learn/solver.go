// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/cg"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/lbfgs"
)

// batchSolver is a solver whose weights can be taken.
type batchSolver interface {
	optim.Solver
	Weights() []float32
}

// solverConfig is which batch solver minimises what, and when it ends.
type solverConfig struct {
	mem         int             // pairs of L-BFGS; 0: conjugate gradients
	penalty     descent.Penalty // with the prior of --input_feature_regularizer, if there is one
	termination float64         // relative decrease of the loss that ends it
	hessianOn   bool            // a curvature pass along every direction finds the step
	semantics   optim.Semantics
}

// name is what messages call the solver.
func (c *solverConfig) name() string {
	if c.mem == 0 {
		return "CG"
	}
	return "L-BFGS"
}

// solver returns one that starts at w and takes it over.
func (c *solverConfig) solver(w []float32, passes int) (batchSolver, error) {
	if c.mem == 0 {
		return cg.New(c.cg(passes), w)
	}
	return lbfgs.New(c.lbfgs(passes), w)
}

// restore returns a solver that goes on from a state.
func (c *solverConfig) restore(st solverState, passes int) (batchSolver, error) {
	if st.lbfgs != nil {
		return lbfgs.Restore(c.lbfgs(passes), *st.lbfgs)
	}
	return cg.Restore(c.cg(passes), *st.cg)
}

func (c *solverConfig) cg(passes int) cg.Config {
	return cg.Config{Penalty: c.penalty, Termination: c.termination, MaxPasses: passes, Semantics: c.semantics}
}

func (c *solverConfig) lbfgs(passes int) lbfgs.Config {
	return lbfgs.Config{
		Mem: c.mem, Penalty: c.penalty, Termination: c.termination, MaxPasses: passes,
		HessianOn: c.hessianOn, Semantics: c.semantics,
	}
}
