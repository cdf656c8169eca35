// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/feature"
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

// mixes reports whether the batch solver is conjugate gradients.
func (c *Config) mixes() bool { return c.Batch.Mem.Value == 0 }

// solverName is what messages call the batch solver.
func (c *Config) solverName() string {
	if c.mixes() {
		return "CG"
	}
	return "L-BFGS"
}

// newSolver returns a solver that starts at w and takes it over.
func (c *Config) newSolver(w []float32, passes int, prior descent.Penalty) (batchSolver, error) {
	if c.mixes() {
		return cg.New(c.cg(passes, prior), w)
	}
	return lbfgs.New(c.lbfgs(passes, prior), w)
}

func (c *Config) cg(passes int, prior descent.Penalty) cg.Config {
	return cg.Config{Penalty: c.penalty(prior), Termination: c.Batch.Termination.Value, MaxPasses: passes, Semantics: c.Batch.Semantics}
}

func (c *Config) lbfgs(passes int, prior descent.Penalty) lbfgs.Config {
	return lbfgs.Config{
		Mem: c.Batch.Mem.Value, Penalty: c.penalty(prior), Termination: c.Batch.Termination.Value, MaxPasses: passes,
		HessianOn: c.Batch.HessianOn, Semantics: c.Batch.Semantics,
	}
}

// penalty is the regulariser, prior where there is one.
func (c *Config) penalty(prior descent.Penalty) descent.Penalty {
	p := prior
	if p.Precision == nil {
		p.L2 = c.Reg.L2
	}
	if c.Reg.NoBias {
		p.Free = []uint32{feature.ConstantIndex & uint32(1<<c.Features.Bits-1)}
	}
	return p
}

// validateBatch reports the faults in what batch solvers are told.
func (c *Config) validateBatch(fault func(option, format string, args ...any)) {
	batch := c.Batch.BFGS || c.Hybrid != nil
	if batch && c.Batch.Mem.Value < 0 {
		fault("--mem", "%d pairs: 0 for conjugate gradients, or more", c.Batch.Mem.Value)
	}
	if c.Batch.Termination.Value < 0 {
		fault("--termination", "%g is negative", c.Batch.Termination.Value)
	}
	if c.Reg.Input != "" {
		if c.Model.Initial != "" {
			fault("--input_feature_regularizer", "training starts at the weights that it holds: leave -i out")
		}
		if c.Hybrid != nil {
			fault("--input_feature_regularizer", "L-BFGS would have to start at the weights that it holds, not at those of SGD: leave --hybrid out")
		}
	}
}
