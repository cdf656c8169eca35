// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/optim/descent"
)

// mixes reports whether the batch solver is conjugate gradients.
func (c *Config) mixes() bool { return c.Batch.Mem.Value == 0 }

// solver is the batch solver with its regulariser, which is prior where there is one.
func (c *Config) solver(prior descent.Penalty) solverConfig {
	p := prior
	if p.Precision == nil {
		p.L2 = c.Reg.L2
	}
	if c.Reg.NoBias {
		p.Free = []uint32{feature.ConstantIndex & uint32(1<<c.Features.Bits-1)}
	}
	return solverConfig{mem: c.Batch.Mem.Value, penalty: p, termination: c.Batch.Termination.Value, hessianOn: c.Batch.HessianOn, semantics: c.Batch.Semantics}
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
