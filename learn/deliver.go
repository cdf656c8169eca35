// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/learn/internal/delivery"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// RunDir is a run directory. It keeps copies of the files that the run has delivered, for
// late attempts. Package rundir implements it.
type RunDir = delivery.RunDir

// The files that a run may owe, by the names under which the server asks for them.
const (
	owesModel    = delivery.Model
	owesReadable = "readable model"
	owesInverted = "inverted model"
	owesPredict  = "predictions"
	owesRaw      = "raw predictions"
	owesMetrics  = "metrics"
	owesExtra    = "extra metrics"
	owesRegular  = "regularisers"
	owesRegText  = "regularisers as text"
)

// owes returns the files that this rank owes, in the order of their delivery. Of the files that
// all ranks would write alike, a single writer may owe all (ClusterConfig.SingleWriter).
func (r *runner) owes() (all []delivery.File) {
	c := &r.cfg
	other := c.Cluster.SingleWriter && r.job.Rank != r.job.Number(0) // another rank owes the files that are the same on all ranks
	add := func(what, name string, out Output, write func(io.Writer) ([32]byte, error)) {
		if out != nil && !other {
			all = append(all, delivery.File{What: what, Kept: strings.ReplaceAll(what, " ", "-"), Name: name, Out: out, Write: write})
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
			all = append(all, delivery.File{What: p.what, Kept: kept, Name: p.preds.Name, Out: p.preds.Out, Preds: p.preds})
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

// delivery returns what delivers the files of this rank.
func (r *runner) delivery() *delivery.Delivery {
	c := &r.cfg
	return &delivery.Delivery{Job: r.job, Join: c.Cluster.Join, RunDir: c.Cluster.RunDir, Create: r.create, Log: c.Diagnostics.Log}
}

// deliver ends the job, and returns the digest of the model.
func (r *runner) deliver(ctx context.Context) (digest model.Digest, err error) {
	if r.cfg.Cluster.Join != nil {
		if digest, err = model.WriteDigest(io.Discard, r.outcome.Model); err != nil {
			return digest, err
		}
	}
	return digest, r.delivery().Deliver(ctx, digest, r.owes())
}

// writeExtraMetrics writes the JSON of --extra_metrics in vw's words and order. vw ends
// it without a newline.
func (r *runner) writeExtraMetrics(w io.Writer) error {
	text := fmt.Sprintf(`{"total_log_calls":%d,"extra_metrics":{"total_learn_calls":%d,"total_predict_calls":%d}`,
		r.console.Hold.Warnings.Load(), r.tally.Calls.Learn, r.tally.Calls.Predict)
	if c := &r.cfg; c.FTRL.Rule != ftrl.None && c.FTRL.Rule != ftrl.FreeGrad { // as in vw
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
