// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// RunDir is a run directory. It keeps copies of the files that the run has delivered, for
// late attempts. Package rundir implements it.
type RunDir interface {
	// Begin is given the options on which the run's ranks agree. It returns an error if the
	// directory belongs to a run with other options.
	Begin(options string) error
	// Put stores what write writes, whose SHA-256 is sum. Take stores the contents of a file.
	Put(what string, sum [32]byte, write func(io.Writer) error) error
	Take(what string, sum [32]byte, name string) error
	// Open opens the copy with this digest. Its reader fails at the end if the bytes have
	// another digest.
	Open(what string, sum [32]byte) (io.ReadCloser, error)
	// Find returns the digest of the copy, whichever it is.
	Find(what string) (sum [32]byte, err error)
}

// The files that a run may owe, by the names under which the server asks for them.
const (
	owesModel    = "model"
	owesReadable = "readable model"
	owesInverted = "inverted model"
	owesPredict  = "predictions"
	owesRaw      = "raw predictions"
	owesMetrics  = "metrics"
	owesExtra    = "extra metrics"
	owesRegular  = "regularisers"
	owesRegText  = "regularisers as text"
)

// owed is a file that this rank must deliver at the end.
type owed struct {
	what string // name under which the server asks for it
	kept string // name in the run directory
	name string // final name
	out  Output
	// write writes the contents and returns their digest; nil: preds has them.
	write func(io.Writer) ([32]byte, error)
	preds *output.Predictions
}

// owes returns the files that this rank owes, in the order of their delivery. Of the files that
// all ranks would write alike, a single writer may owe all (ClusterConfig.SingleWriter).
func (r *runner) owes() (all []owed) {
	c := &r.cfg
	other := c.Cluster.SingleWriter && r.job.Rank != r.job.Number(0) // another rank owes the files that are the same on all ranks
	add := func(what, name string, out Output, write func(io.Writer) ([32]byte, error)) {
		if out != nil && !other {
			all = append(all, owed{what: what, kept: strings.ReplaceAll(what, " ", "-"), name: name, out: out, write: write})
		}
	}
	add(owesModel, c.Model.Final, r.modelFile, func(w io.Writer) ([32]byte, error) { return model.WriteDigest(w, r.outcome.Model) })
	add(owesReadable, c.Model.Readable, r.readableFile, r.writeReadable)
	inverted := model.WriteInverted
	if c.Model.HexWeights {
		inverted = model.WriteHex
	}
	add(owesInverted, c.Model.InvertHash, r.invertedFile, digested(func(w io.Writer) error { return inverted(w, r.textModel(), r.audit.Name) }))
	add(owesRegular, c.Reg.Output, r.regularizerFile, r.writeRegularizer)
	add(owesRegText, c.Reg.OutputText, r.regularizerText, r.writeRegularizerText)
	for _, p := range []struct {
		what  string
		preds *output.Predictions
	}{{owesPredict, r.files.Predictions}, {owesRaw, r.files.Raw}} {
		if p.preds != nil && !r.job.Late { // each rank has its own
			kept := fmt.Sprintf("%s-%d", strings.ReplaceAll(p.what, " ", "-"), r.job.Rank)
			all = append(all, owed{what: p.what, kept: kept, name: p.preds.Name, out: p.preds.Out, preds: p.preds})
		}
	}
	add(owesMetrics, c.Metrics.File, r.metricsFile, r.tally.Measures.Write)
	add(owesExtra, c.Metrics.Extra, r.extraMetricsFile, digested(r.writeExtraMetrics))
	return all
}

// textModel returns the model for text files. After a test of SGD's weights these list no state
// besides the weights, as in vw.
func (r *runner) textModel() *model.Regressor {
	reg, c := *r.outcome.Model, &r.cfg
	reg.Bare = c.TestOnly && c.FTRL.Rule == ftrl.None
	return &reg
}

// writeReadable writes the model as text.
func (r *runner) writeReadable(w io.Writer) ([32]byte, error) {
	return digested(func(w io.Writer) error {
		if r.cfg.Model.HexWeights {
			return model.WriteHex(w, r.textModel(), nil)
		}
		return model.WriteReadable(w, r.textModel())
	})(w)
}

// digested returns a function that calls write and returns the digest of what it has written.
func digested(write func(io.Writer) error) func(io.Writer) ([32]byte, error) {
	return func(w io.Writer) ([32]byte, error) {
		h := sha256.New()
		if err := write(io.MultiWriter(w, h)); err != nil {
			return [32]byte{}, err
		}
		return [32]byte(h.Sum(nil)), nil
	}
}

// deliver ends the job. All ranks compare the digests of their models. Then each writes the
// files that it owes, when the server asks for them. deliver returns the digest of the model.
func (r *runner) deliver(ctx context.Context) ([32]byte, error) {
	var digest model.Digest
	if r.cfg.Cluster.Join != nil {
		var err error
		if digest, err = model.WriteDigest(io.Discard, r.outcome.Model); err != nil {
			return digest, err
		}
	}
	all := r.owes()
	left := make([]string, len(all))
	for i, o := range all {
		left[i] = o.what
	}
	// The server may ask for the files of this rank one by one. A file counts when it has its
	// final name.
	handed := 0
	err := r.job.Group.Finish(ctx, digest, left, func(_ context.Context, what string) ([32]byte, error) {
		for _, o := range all {
			if o.what == what {
				sum, err := r.hand(o)
				if err == nil {
					handed++
				}
				return sum, err
			}
		}
		return digest, fmt.Errorf("learn: the server asks for %q, which this rank does not owe", what)
	})
	// All files exist, so a failed end must not make a launcher repeat the whole run.
	if err != nil && handed == len(all) && r.safe(err, digest) {
		r.cfg.Diagnostics.Log.Warn("the server has ended without confirming that the run has finished; this rank has delivered its files, and the run directory has the model",
			"rank", r.job.Rank, "error", err)
		err = nil
	}
	return digest, err
}

// hand delivers one file under its final name, and stores a copy in the run directory.
func (r *runner) hand(o owed) (sum [32]byte, err error) {
	if o.write == nil {
		if sum, err = o.preds.Deliver(); err == nil {
			r.keep(o, func(keep RunDir) error { return keep.Take(o.kept, sum, o.name) })
		}
		return sum, err
	}
	if sum, err = o.write(o.out); err != nil {
		return sum, err
	}
	r.keep(o, func(keep RunDir) error {
		return keep.Put(o.kept, sum, func(w io.Writer) error {
			_, err := o.write(w)
			return err
		})
	})
	return sum, o.out.Commit()
}

// keep copies a file into the run directory. The job does not fail without the copy: it is
// for attempts that may never come.
func (r *runner) keep(o owed, put func(RunDir) error) {
	if r.cfg.Cluster.RunDir == nil || r.job.Group.Stream() { // a job with vw workers has no late attempts
		return
	}
	if err := put(r.cfg.Cluster.RunDir); err != nil {
		r.cfg.Diagnostics.Log.Error("cannot keep a file in the run directory: late attempts will not find it", "rank", r.job.Rank, "file", o.name, "error", err)
	}
}

// safe reports whether a rank that has delivered all its files may end without an error,
// although the server has not confirmed the end of the run. The server must be unreachable, or
// have been restarted without knowing the run. And the run directory must hold the model that
// this rank has, which proves that the ranks agreed.
func (r *runner) safe(err error, digest [32]byte) bool {
	keep := r.cfg.Cluster.RunDir
	_, away := errors.AsType[*allreduce.ServerError](err)
	lost, over := errors.AsType[*allreduce.LostError](err)
	if keep == nil || !away && !(over && lost.ServerRestarted) {
		return false
	}
	in, err := keep.Open(owesModel, digest)
	return err == nil && in.Close() == nil
}

// writeExtraMetrics writes the JSON of --extra_metrics in vw's words and order. vw ends
// it without a newline.
func (r *runner) writeExtraMetrics(w io.Writer) error {
	text := fmt.Sprintf(`{"total_log_calls":%d,"extra_metrics":{"total_learn_calls":%d,"total_predict_calls":%d}`,
		r.console.Hold.Warnings.Load(), r.tally.Calls.Learn, r.tally.Calls.Predict)
	if c := &r.cfg; c.FTRL.Rule != ftrl.None {
		alpha, beta := c.ftrlNumbers()
		text += fmt.Sprintf(`,"%s":{"ftrl_size":%d,"ftrl_alpha":%s,"ftrl_beta":%s,"ftrl_normalized_sum_norm_x":%s,"ftrl_total_weight":%s,"ftrl_algorithm":"%s"}`,
			c.followerLearner(), len(c.FTRL.Rule.Slots()), jsonFloat(alpha), jsonFloat(beta), jsonFloat(float32(r.outcome.Followed.Norm)), jsonFloat(float32(r.outcome.Followed.TotalWeight)), followerNames[c.FTRL.Rule])
	}
	_, err := io.WriteString(w, text+"}")
	return err
}

// jsonFloat formats x as vw's JSON writer does: with the digits of a float64, and always with a
// fraction.
func jsonFloat(x float32) string {
	if v := float64(x); math.IsInf(v, 0) || math.IsNaN(v) {
		return "null"
	}
	text := strconv.FormatFloat(float64(x), 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// writeRegularizer and writeRegularizerText write the output regularisers. A run that has
// none, such as one of SGD, writes its model there, as vw does.
func (r *runner) writeRegularizer(w io.Writer) ([32]byte, error) {
	if r.outcome.Regularizers == nil {
		return model.WriteDigest(w, r.outcome.Model)
	}
	return digested(func(w io.Writer) error { return model.WriteRegularizer(w, r.outcome.Regularizers.File(1)) })(w)
}

func (r *runner) writeRegularizerText(w io.Writer) ([32]byte, error) {
	if r.outcome.Regularizers == nil {
		return r.writeReadable(w)
	}
	// vw 9 adds λ once more for each file that it has written before.
	nth := 1
	if c := &r.cfg; c.Reg.Output+c.Model.Final != "" {
		nth = 2
	}
	return digested(func(w io.Writer) error { return model.WriteRegularizerText(w, r.outcome.Regularizers.File(nth)) })(w)
}
