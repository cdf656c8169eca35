// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"fmt"
	"io"

	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
)

// A regulariser of each weight carries what earlier data taught to a training
// on new data: the weights of then as centres, and as λ the diagonal of the
// Hessian there, which says how sure they were.

// regularizes reports whether a rank of the job writes output regularisers.
func (c *Config) regularizes() bool {
	return c.Reg.OutputOnAnyRank || c.Reg.Output+c.Reg.OutputText != ""
}

// keepsHessian reports whether training ends with a pass for the Hessian of the output
// regularisers. vw 9 has no such pass.
func (c *Config) keepsHessian() bool {
	return c.regularizes() && !c.TestOnly && (c.Batch.BFGS || c.Hybrid != nil) && c.Batch.Semantics == optim.VW7
}

// loadRegularizer reads --input_feature_regularizer and merges what it keeps
// into cfg, as loadModel does. What is read of it goes to read.
func loadRegularizer(cfg *Config, read io.Writer) (prior descent.Penalty, labels loss.Range, err error) {
	name := cfg.Reg.Input
	f, err := cfg.Model.Open(name)
	if err != nil {
		return prior, labels, fmt.Errorf("cannot open the regularisers: %w", err)
	}
	reg, err := model.ReadRegularizer(io.TeeReader(f, read), model.Limits{Bits: 30})
	if err = errors.Join(err, f.Close()); err != nil {
		return prior, labels, fmt.Errorf("regularisers %s: %w", name, err)
	}
	if cfg.given.bits && cfg.Features.Bits != reg.Bits {
		return prior, labels, usage("--bit_precision", "%s was made with -b %d, but -b %d was given: leave -b away", name, reg.Bits, cfg.Features.Bits)
	}
	cfg.Features.Bits = reg.Bits
	if err := cfg.takeOptions(name, &reg.Header); err != nil {
		return prior, labels, err
	}
	if err := cfg.Validate(); err != nil {
		return prior, labels, err
	}
	for i, v := range reg.Precision {
		if !(v >= 0) {
			return prior, labels, &DataError{Name: name, Text: fmt.Sprintf("the regulariser of weight %d is %v: it cannot be negative", i, v)}
		}
	}
	labels = loss.Range{Min: reg.MinLabel, Max: reg.MaxLabel}
	return descent.Penalty{Precision: reg.Precision, Mean: reg.Mean}, labels, nil
}

// writeRegularizer and writeRegularizerText write the output regularisers. A run that has
// none, such as one of SGD, writes its model there, as vw does.
func (r *runner) writeRegularizer(w io.Writer) ([32]byte, error) {
	if r.outcome.regularizers == nil {
		return model.WriteDigest(w, r.outcome.model)
	}
	return digested(func(w io.Writer) error { return model.WriteRegularizer(w, r.outcome.regularizers.file(1)) })(w)
}

func (r *runner) writeRegularizerText(w io.Writer) ([32]byte, error) {
	if r.outcome.regularizers == nil {
		return r.writeReadable(w)
	}
	nth := 1
	if c := &r.cfg; c.Reg.Output+c.Model.Final != "" {
		nth = 2
	}
	return digested(func(w io.Writer) error { return model.WriteRegularizerText(w, r.outcome.regularizers.file(nth)) })(w)
}

// openRegularizers starts the files, so that a folder that does not exist is
// noticed before the training.
func (r *runner) openRegularizers() (err error) {
	c := &r.cfg
	if c.Reg.Output != "" {
		if r.regularizerFile, err = c.Output.Create(c.Reg.Output); err != nil {
			return err
		}
	}
	if c.Reg.OutputText != "" {
		r.regularizerText, err = c.Output.Create(c.Reg.OutputText)
	}
	return err
}
