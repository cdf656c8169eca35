// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gvw-project/gvw/learn/internal/sgdstage"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/sgd"
)

// initial is a loaded model. Its header is read when the run begins, and its weights when their
// table has been allocated.
type initial struct {
	name   string
	file   io.Closer
	dec    *model.Decoder
	labels loss.Range       // range of predictions at the end of its training
	resume bool             // the model has resume state
	base   training.Carried // sums of that state
}

// loadModel opens the initial model and merges its options into cfg. A feature mask is also an
// initial model, but its options are ignored. All bytes that are read, now and later, are
// copied to read, for the checksum of the provenance.
func loadModel(cfg *Config, read io.Writer) (_ *initial, err error) {
	name := cmp.Or(cfg.Model.Initial, cfg.Model.FeatureMask)
	f, err := cfg.Model.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot open the initial model: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	dec, err := model.NewDecoder(io.TeeReader(f, read), model.Limits{Bits: 32})
	if err != nil {
		return nil, fmt.Errorf("initial model %s: %w", name, err)
	}
	h := &dec.Header
	if cfg.given.bits && cfg.Features.Bits != h.Bits {
		return nil, usage.New("Features.Bits", "%s was trained with learn.Config.Features.Bits=%d, not %d: leave the option out", name, h.Bits, cfg.Features.Bits)
	}
	// The number of weights is that of the model, whether it was given or not.
	cfg.Features.Bits = h.Bits
	if cfg.Model.Initial != "" {
		if err := cfg.checkMask(); err != nil {
			return nil, err
		}
		if cfg.Model.ID == "" {
			cfg.Model.ID = h.ID
		}
		if err := cfg.loaded(h); err != nil {
			return nil, err
		}
		if err := cfg.takeOptions(name, h); err != nil {
			return nil, err
		}
	}
	// The options of the model may contradict those of the caller, so all are checked again.
	if err := errors.Join(cfg.Validate(), cfg.checkMeasures(), cfg.checkReplicas()); err != nil {
		return nil, err
	}
	in := &initial{name: name, file: f, dec: dec, labels: loss.Range{Min: h.MinLabel, Max: h.MaxLabel}}
	if s := dec.Resume; s != nil {
		in.resume = true
		in.base = training.Carried{Nsx: s.NormNormalizer, TotalWeight: s.TotalWeight, T: s.T}
		if len(s.Models) > 0 { // a file of --per_model_save_load
			in.base.Nsx, in.base.TotalWeight = s.Models[0].NormNormalizer, s.Models[0].TotalWeight
		}
	}
	return in, nil
}

// checkMask checks a mask that is given beside another initial model. As in vw nothing is taken
// from the mask: the weights that are 0 in the initial model stay 0. But the mask must have as
// many weights.
func (c *Config) checkMask() error {
	if c.Model.FeatureMask == "" || c.Model.FeatureMask == c.Model.Initial {
		return nil
	}
	f, err := c.Model.Open(c.Model.FeatureMask)
	if err != nil {
		return fmt.Errorf("cannot open the feature mask: %w", err)
	}
	dec, err := model.NewDecoder(f, model.Limits{Bits: 32})
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("feature mask %s: %w", c.Model.FeatureMask, err)
	}
	if dec.Header.Bits != c.Features.Bits {
		return usage.New("Model.FeatureMask", "%s was trained with learn.Config.Features.Bits=%d, and %s with learn.Config.Features.Bits=%d: they must be equal", c.Model.FeatureMask, dec.Header.Bits, c.Model.Initial, c.Features.Bits)
	}
	return nil
}

// loaded reports the options of a model to the caller of Run.
func (c *Config) loaded(h *model.Header) error {
	if c.Model.Loaded == nil {
		return nil
	}
	options := slices.Clone(h.Options)
	for _, n := range h.NGrams {
		options = append(options, model.Option{Name: "ngram", Value: n})
	}
	return c.Model.Loaded(options)
}

// weights reads the weights into dst and closes the file.
func (in *initial) weights(dst model.View) error {
	_, err := in.dec.Weights(dst)
	if err != nil {
		err = fmt.Errorf("initial model %s: %w", in.name, err)
	}
	return errors.Join(err, in.file.Close())
}

// intoLearner reads the model into a learner: its weights, and with resume state also the
// adaptive and normalised sums.
func (in *initial) intoLearner(l *sgd.Learner, rule sgd.Config) error {
	if err := in.weights(sgdstage.View(l, rule)); err != nil || !in.resume {
		return err
	}
	// vw continues from the sums and from the regularisation that is still due (gd.cc:
	// save_load_online_state).
	sc := l.Scalars()
	sc.Nsx, sc.TotalWeight, sc.T = in.base.Nsx, in.base.TotalWeight, in.base.T
	sc.Gravity, sc.Contraction = in.dec.Resume.Gravity, in.dec.Resume.Contraction
	l.SetScalars(sc)
	return nil
}

// intoSums sets the sums of each class. A model without --per_model_save_load has only those of
// the first class, which all classes then share.
func (in *initial) intoSums(sums []sgd.ClassSums) {
	r := in.dec.Resume
	if r == nil {
		return
	}
	for i := range sums {
		sums[i] = sgd.ClassSums{Nsx: r.NormNormalizer, TotalWeight: r.TotalWeight}
		if i < len(r.Models) {
			sums[i] = sgd.ClassSums{Nsx: r.Models[i].NormNormalizer, TotalWeight: r.Models[i].TotalWeight}
		}
	}
}

// plain returns the weights by which the model predicts, without the sums of the rule.
func plain(reg *model.Regressor) []float32 {
	reg.Settle()
	v := reg.Weights
	if v.Places != nil {
		w := make([]float32, 1<<reg.Bits)
		for index, place := range v.Places.All() {
			w[index] = v.Data[place*v.Stride]
		}
		return w
	}
	if v.Stride <= 1 {
		return v.Data
	}
	w := make([]float32, len(v.Data)/v.Stride)
	for i := range w {
		w[i] = v.Data[i*v.Stride]
	}
	return w
}

// openModels starts the files of the run's end. A directory that does not exist is reported
// before the training and not after it.
func (r *runner) openModels() (err error) {
	c := &r.cfg
	if c.Model.Final != "" {
		if r.modelFile, err = c.Output.Create(c.Model.Final); err != nil {
			return err
		}
	}
	if c.Model.Readable != "" {
		if r.readableFile, err = c.Output.Create(c.Model.Readable); err != nil {
			return err
		}
	}
	if c.Model.InvertHash != "" {
		if r.invertedFile, err = c.Output.Create(c.Model.InvertHash); err != nil {
			return err
		}
	}
	if c.Metrics.File != "" {
		if r.metricsFile, err = c.Output.Create(c.Metrics.File); err != nil {
			return err
		}
	}
	if c.Metrics.Extra != "" {
		if r.extraMetricsFile, err = c.Output.Create(c.Metrics.Extra); err != nil {
			return err
		}
	}
	return r.openRegularizers()
}

// abortModels removes the files that have not been committed.
func (r *runner) abortModels() {
	for _, f := range []Output{r.modelFile, r.readableFile, r.invertedFile, r.metricsFile, r.extraMetricsFile, r.regularizerFile, r.regularizerText} {
		if f != nil {
			_ = f.Abort() // no effect after Commit; before it the error of the run is the cause
		}
	}
	if r.initial != nil {
		_ = r.initial.file.Close() // only read from
	}
}

// loadedFiles has the contents of the files whose options change the configuration.
type loadedFiles struct {
	initial *initial        // the loaded model; nil: none
	prior   descent.Penalty // of Reg.Input; zero: none
	labels  *loss.Range     // range of predictions of the loaded file; nil: none is loaded
}

// load opens the initial model, reads the regularisers and the dictionaries, and merges their options into c. All
// bytes that are read of the model and the regularisers, now and later, are copied to read, for the checksum of the
// provenance.
func (c *Config) load(read io.Writer) (l loadedFiles, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
			l = loadedFiles{}
		}
	}()
	if c.loadsModel() {
		if l.initial, err = loadModel(c, read); err != nil {
			return l, err
		}
		l.labels = &l.initial.labels
	}
	if c.Reg.Input != "" {
		var seen loss.Range
		if l.prior, seen, err = loadRegularizer(c, read); err != nil {
			return l, err
		}
		l.labels = &seen
	}
	return l, c.loadDictionaries()
}

// close closes the initial model.
func (l *loadedFiles) close() error {
	if l.initial == nil {
		return nil
	}
	return l.initial.file.Close()
}

// loadHeaders merges the options of the initial model and of the regularisers into c, as load does. It reads only their
// headers, and no dictionaries.
func (c *Config) loadHeaders() error {
	if c.loadsModel() {
		in, err := loadModel(c, io.Discard)
		if err != nil {
			return err
		}
		if err := in.file.Close(); err != nil {
			return err
		}
	}
	if c.Reg.Input == "" {
		return nil
	}
	f, err := c.openRegularizer()
	if err != nil {
		return err
	}
	dec, err := model.NewDecoder(f, regularizerLimits)
	if err == nil && !dec.Regularizer {
		err = errors.New("this is a model: load it with learn.Config.Model.Initial")
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("regularisers %s: %w", c.Reg.Input, err)
	}
	return c.takeRegularizer(&dec.Header)
}

// loadsModel reports whether the run begins with a loaded model or a feature mask.
func (c *Config) loadsModel() bool { return c.Model.Initial != "" || c.Model.FeatureMask != "" }

// regularizerLimits are the limits of the file of Reg.Input.
var regularizerLimits = model.Limits{Bits: 30}

// openRegularizer opens the file of Reg.Input.
func (c *Config) openRegularizer() (io.ReadCloser, error) {
	f, err := c.Model.Open(c.Reg.Input)
	if err != nil {
		return nil, fmt.Errorf("cannot open the regularisers: %w", err)
	}
	return f, nil
}

// takeRegularizer merges the options of the file of Reg.Input into c.
func (c *Config) takeRegularizer(h *model.Header) error {
	if c.given.bits && c.Features.Bits != h.Bits {
		return usage.New("Features.Bits", "%s was made with learn.Config.Features.Bits=%d, not %d: leave the option out", c.Reg.Input, h.Bits, c.Features.Bits)
	}
	c.Features.Bits = h.Bits
	if err := c.takeOptions(c.Reg.Input, h); err != nil {
		return err
	}
	return c.Validate()
}

// loadRegularizer reads the file of Reg.Input and merges its options into cfg, as loadModel does. All bytes that are
// read are copied to read.
func loadRegularizer(cfg *Config, read io.Writer) (prior descent.Penalty, labels loss.Range, err error) {
	name := cfg.Reg.Input
	f, err := cfg.openRegularizer()
	if err != nil {
		return prior, labels, err
	}
	reg, err := model.ReadRegularizer(io.TeeReader(f, read), regularizerLimits)
	if err = errors.Join(err, f.Close()); err != nil {
		return prior, labels, fmt.Errorf("regularisers %s: %w", name, err)
	}
	if err := cfg.takeRegularizer(&reg.Header); err != nil {
		return prior, labels, err
	}
	// A negative λ would make the penalty unbounded, and the solver would diverge. NaN fails
	// the test, too.
	for i, v := range reg.Precision {
		if !(v >= 0) {
			return prior, labels, &DataError{Name: name, Text: fmt.Sprintf("the regulariser of weight %d is %v: it cannot be negative", i, v)}
		}
	}
	labels = loss.Range{Min: reg.MinLabel, Max: reg.MaxLabel}
	return descent.Penalty{Precision: reg.Precision, Mean: reg.Mean}, labels, nil
}

// openRegularizers starts the files of the output regularisers.
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
