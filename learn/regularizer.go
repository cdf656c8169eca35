// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"fmt"
	"io"

	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/descent"
)

// A regulariser of each weight carries what earlier data taught to a training
// on new data: the weights of then as centres, and as λ the diagonal of the
// Hessian there, which says how sure they were.

// keepsHessian reports whether the run ends with a pass for such a file.
func (c *Config) keepsHessian() bool {
	return c.OutputRegularizer+c.OutputRegularizerTxt != "" && !c.TestOnly
}

// loadRegularizer reads --input_feature_regularizer and merges what it keeps
// into cfg, as loadModel does. What is read of it goes to read.
func loadRegularizer(cfg *Config, read io.Writer) (prior descent.Penalty, labels loss.Range, err error) {
	name := cfg.InputRegularizer
	f, err := cfg.OpenModel(name)
	if err != nil {
		return prior, labels, fmt.Errorf("cannot open the regularisers: %w", err)
	}
	reg, err := model.ReadRegularizer(io.TeeReader(f, read), model.Limits{Bits: 30})
	if err = errors.Join(err, f.Close()); err != nil {
		return prior, labels, fmt.Errorf("regularisers %s: %w", name, err)
	}
	if cfg.BitsSet && cfg.Bits != reg.Bits {
		return prior, labels, usage("--bit_precision", "%s was made with -b %d, but -b %d was given: leave -b away", name, reg.Bits, cfg.Bits)
	}
	cfg.Bits = reg.Bits
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

// regularizer is what the run leaves for later ones: λ plus the Hessian's
// diagonal, and the weights.
func (s *session) regularizer(w, diagonal []float32, prior descent.Penalty) *model.Regularizer {
	r := &model.Regularizer{Header: s.header(false), Precision: make([]float32, len(w)), Mean: w}
	for i, h := range diagonal {
		lambda := float32(s.cfg.L2)
		if prior.Precision != nil {
			lambda = prior.Precision[i]
		}
		r.Precision[i] = h + lambda
	}
	return r
}

// openRegularizers starts the files, so that a folder that does not exist is
// noticed before the training.
func (r *runner) openRegularizers() (err error) {
	c := &r.session.cfg
	if !c.keepsHessian() {
		return nil
	}
	if c.OutputRegularizer != "" {
		if r.regularizerFile, err = c.Create(c.OutputRegularizer); err != nil {
			return err
		}
	}
	if c.OutputRegularizerTxt != "" {
		r.regularizerText, err = c.Create(c.OutputRegularizerTxt)
	}
	return err
}
