// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"sync"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/sgdstage"
	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/model"
)

// Live is a learner for a server: it predicts one example after the other, for as long as the
// server runs, and learns from each unless Config.TestOnly is set. Each goroutine predicts in a
// [Session] of its own. Sessions of a test work in parallel, by weights that do not change. The
// others take turns.
type Live struct {
	cfg    Config
	run    *runner
	digest [32]byte // of the loaded model's file

	mu      sync.Mutex // held while the stage learns or is copied
	stage   liveStage
	answers *answers
}

// liveStage is a stage that a server can use.
type liveStage interface {
	Example(b *feature.Batch, ex *feature.Example, held bool) error
	Current(ctx context.Context, g *allreduce.Group) (*model.Regressor, error)
}

var (
	_ liveStage = (*sgdstage.Online)(nil)
	_ liveStage = (*sgdstage.Classes)(nil)
	_ liveStage = (*sgdstage.FTRL)(nil)
	_ liveStage = (*sgdstage.Reduced)(nil)
)

// ErrModelChanged means that the file of the model is no longer the one that was loaded.
var ErrModelChanged = errors.New("the file of the model has changed since it was loaded")

// liveName is the name under which a server's predictions are created.
const liveName = "answers"

// Open loads the model of cfg, if it has one, and makes its learner. The data of cfg selects only
// the format of examples. Nothing is written, so fields that name outputs are refused.
func Open(ctx context.Context, cfg Config) (*Live, error) {
	if err := cfg.liveFaults(); err != nil {
		return nil, err
	}
	l := &Live{answers: new(answers)}
	cfg.Data.Inputs = []Input{{Name: "examples", None: true, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(new(bytes.Reader)), nil
	}}}
	cfg.Output = OutputConfig{Predictions: liveName, Create: l.answers.create}
	open, initial := cfg.Model.Open, cfg.Model.Initial
	var digested *digestReader
	cfg.Model.Open = func(name string) (io.ReadCloser, error) {
		f, err := open(name)
		if err != nil || name != initial || digested != nil {
			return f, err
		}
		digested = &digestReader{f: f, sum: sha256.New()}
		return digested, nil
	}
	if open == nil {
		cfg.Model.Open = nil
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r, err := newRunner(cfg.withDefaults())
	if err != nil {
		return nil, err
	}
	r.serves, l.run = true, r
	if err = r.join(ctx); err == nil {
		// The options of the model may select a learner that cannot serve.
		loaded := r.cfg
		loaded.Output = OutputConfig{}
		err = loaded.liveFaults()
		if err == nil && !loaded.TestOnly {
			err = loaded.checkHeader()
		}
		if err == nil {
			l.stage, err = r.live()
		}
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	l.answers.flush = r.files.Flush
	r.files.Predictions.OmitDigest()
	r.job.Wired = true // there is no shard whose identity other ranks wait for
	r.console.Hold.Release()
	l.cfg = r.cfg
	l.cfg.Model.Open = open
	if digested != nil {
		copy(l.digest[:], digested.sum.Sum(nil))
	}
	return l, nil
}

// liveFaults reports fields that a server cannot have.
func (c *Config) liveFaults() error {
	var f usage.Faults
	refuse := func(bad bool, field, why string) {
		if bad {
			f.Add(field, "a server cannot have it: %s", why)
		}
	}
	refuse(c.Output.Predictions != "", "Output.Predictions", "predictions go to the clients")
	refuse(c.Output.RawPredictions != "", "Output.RawPredictions", "predictions go to the clients")
	refuse(c.Output.Audit != nil, "Output.Audit", "stdout has no reader")
	refuse(c.Model.Final != "", "Model.Final", "use Live.Save")
	refuse(c.Model.Readable != "", "Model.Readable", "use gvw convert on a saved model")
	refuse(c.Model.InvertHash != "", "Model.InvertHash", "the names of features are not kept")
	refuse(c.Model.SavePerPass || c.Passes > 1, "Passes", "its examples have no end")
	refuse(c.Data.Cache != "", "Data.Cache", "its examples have no end")
	refuse(c.Data.Format != "" && c.Data.Format != FormatJSON, "Data.Format", "clients send vw's text or JSON")
	refuse(c.Data.Examples > 0, "Data.Examples", "its examples have no end")
	refuse(c.Data.PassLength > 0, "Data.PassLength", "its examples have no end")
	refuse(c.SGD.Hogwild > 1, "SGD.Hogwild", "it learns from one example at a time")
	refuse(c.SGD.Threads > 1, "SGD.Threads", "it learns from one example at a time")
	refuse(c.Data.Shuffle, "Data.Shuffle", "answers come in the order of the examples")
	refuse(c.Holdout.After > 0, "Holdout.After", "it learns from every example")
	refuse(len(c.Holdout.Valid) > 0, "Holdout.Valid", "its examples have no end")
	refuse(len(c.Metrics.Measures) > 0, "Metrics.Measures", "its examples have no end")
	refuse(c.Metrics.Extra != "", "Metrics.Extra", "its examples have no end")
	refuse(c.regularizes(), "Reg.Output", "only a whole training has it")
	refuse(c.LDA.Topics > 0, "LDA.Topics", "use gvw infer")
	refuse(c.Cluster.Join != nil || c.Cluster.Group != nil, "Cluster.Join", "it is one process")
	refuse(c.Malt.on(), "Malt.Graph", "it is one process")
	refuse(c.Average.on(), "Average.Aggregate", "it is one process")
	if !c.TestOnly {
		for _, s := range c.Learner.learners() {
			refuse(s.Staged, c.Learner.field(s.Name), "it learns in passes: train first, then test (learn.Config.TestOnly)")
		}
		refuse(c.Hybrid != nil, "Hybrid", "a batch solver needs passes: train first, then test (learn.Config.TestOnly)")
		refuse(c.Batch.BFGS || c.Batch.ConjugateGradient, "Batch.BFGS", "a batch solver needs passes: train first, then test (learn.Config.TestOnly)")
	}
	return f.Err()
}

// live makes the stage of a server.
func (r *runner) live() (liveStage, error) {
	switch {
	case r.cfg.follows():
		return r.ftrl()
	case r.cfg.OAA.Classes > 0:
		return r.classes()
	case r.cfg.Learner.on():
		return r.reduced()
	}
	return r.online(1, false)
}

// takesTurns reports whether only one session predicts at a time: the stage learns, or it has no
// readers.
func (l *Live) takesTurns() bool {
	_, composed := l.stage.(*sgdstage.Reduced)
	return l.Learns() || composed
}

// reader returns a stage that only predicts, beside others, and writes its predictions to out.
func (r *runner) reader(of liveStage, out *answers) (liveStage, error) {
	t := *r.tally
	t.Files = &output.PredictionFiles{}
	table, err := vwtext.NewTable(nil, "")
	if err != nil {
		return nil, err
	}
	t.Console = &output.Console{Table: table, Hold: r.console.Hold}
	t.Stats = vwtext.NewStats()
	if t.Files.Predictions, err = output.NewPredictions(out.create, liveName); err != nil {
		return nil, err
	}
	out.flush = t.Files.Flush
	t.Files.Predictions.OmitDigest()
	switch m := of.(type) {
	case *sgdstage.Online:
		return m.Reader(&t), nil
	case *sgdstage.Classes:
		return m.Reader(&t), nil
	case *sgdstage.FTRL:
		return m.Reader(&t), nil
	}
	panic(fmt.Sprintf("BUG: learn: %T has no reader", of))
}

// Learns reports whether the model changes.
func (l *Live) Learns() bool { return !l.cfg.TestOnly }

// ModelInfo describes a model.
type ModelInfo struct {
	ID      string         // that of the file
	Digest  [32]byte       // SHA-256 of the loaded file; zero: none was loaded
	Bits    uint           // log2 of the number of weights
	Options []model.Option // those that the model keeps
	Loss    string         // loss function of further training
	Link    string
	Min     float32 // range of predictions
	Max     float32
}

// Info describes the model that was loaded, with the options of the configuration.
func (l *Live) Info() ModelInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, r := &l.cfg, l.run.tally.Seen
	return ModelInfo{
		ID: c.Model.ID, Digest: l.digest, Bits: c.Features.Bits, Options: c.modelOptions(l.Learns() && !c.Model.PredictOnly),
		Loss: c.Loss.Function, Link: c.Loss.Link, Min: r.Min, Max: r.Max,
	}
}

// Counters are sums over the examples of a learner that learns.
type Counters struct {
	Examples uint64
	Loss     float64 // mean loss of the predictions before each update; NaN: no labels
}

// Counters returns the sums so far. They are zero in a test.
func (l *Live) Counters() Counters {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.run.tally.Stats
	return Counters{Examples: s.Examples, Loss: s.AverageLoss()}
}

// Save writes the current model to w. Sessions that learn wait while the weights are copied, and
// not while they are written. A test writes the bytes of the file that it has loaded.
func (l *Live) Save(ctx context.Context, w io.Writer) error {
	if !l.Learns() {
		return l.copyFile(w)
	}
	reg, err := l.current(ctx)
	if err != nil {
		return err
	}
	_, err = model.WriteDigest(w, reg)
	return err
}

// current returns a copy of the current model.
func (l *Live) current(ctx context.Context) (*model.Regressor, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	reg, err := l.stage.Current(ctx, l.run.job.Group)
	if err != nil {
		return nil, err
	}
	reg.Weights.Data = slices.Clone(reg.Weights.Data)
	return reg, nil
}

// copyFile copies the file of the loaded model.
func (l *Live) copyFile(w io.Writer) (err error) {
	if l.digest == [32]byte{} {
		return errors.New("no model was loaded, and nothing is learned")
	}
	f, err := l.cfg.Model.Open(l.cfg.Model.Initial)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w, sum), f); err != nil {
		return err
	}
	if [32]byte(sum.Sum(nil)) != l.digest {
		return fmt.Errorf("%s: %w", l.cfg.Model.Initial, ErrModelChanged)
	}
	return nil
}

// Close ends the learner. No session may be in use.
func (l *Live) Close() error { return l.run.close() }

// digestReader computes the digest of a file, all of which counts.
type digestReader struct {
	f   io.ReadCloser
	sum hash.Hash
}

func (d *digestReader) Read(b []byte) (int, error) {
	n, err := d.f.Read(b)
	d.sum.Write(b[:n])
	return n, err
}

func (d *digestReader) Close() error {
	_, err := io.Copy(d.sum, d.f)
	return errors.Join(err, d.f.Close())
}

// answers is the file of the predictions of a server: it keeps the last answer.
type answers struct {
	bytes.Buffer
	flush func() error // moves what the learner has written to the buffer
}

// take appends the answer to dst.
func (a *answers) take(dst []byte) ([]byte, error) {
	err := a.flush()
	dst = append(dst, a.Bytes()...)
	a.Reset()
	return dst, err
}

func (a *answers) create(string) (Output, error) { return a, nil }
func (a *answers) Commit() error                 { return nil }
func (a *answers) Abort() error                  { return nil }
