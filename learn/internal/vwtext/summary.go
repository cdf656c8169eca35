// SPDX-License-Identifier: Apache-2.0

package vwtext

import (
	"fmt"
	"math"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/loss"
)

// Report is the outcome of a run.
type Report struct {
	Stats   Stats    // over all ranks
	Passes  int      // passes over the data
	Digest  [32]byte // SHA-256 of the model's bytes; zero without a job, which does not need it
	Holdout bool     // a holdout set was used
	// HoldoutLoss is the best mean holdout loss of a pass; NaN: nothing was held out.
	HoldoutLoss float64
	Loss        loss.Loss
	Range       loss.Range // range of predictions at the end
	// NoBestConstant leaves the best constant out of the summary.
	NoBestConstant bool
	// LogLoss is the mean log-loss of --oaa --probabilities; NaN: not known.
	LogLoss float64
	// Measures are those of Config.Metrics.Measures over the last pass, or over the best pass
	// if an early stop has returned to its weights.
	Measures []metric.Value
	// Shard identifies the examples that this rank has read: their number, and the bytes and the CRC-32C of their text. It
	// is zero if the rank has read none, because it has taken over the state of another one.
	Shard struct {
		Examples, Bytes uint64
		CRC             uint32
	}
}

// AverageLoss returns the loss that vw's summary shows.
func (r *Report) AverageLoss() float64 {
	if r.Holdout {
		return r.HoldoutLoss
	}
	return r.Stats.AverageLoss()
}

// Summary returns the text that vw prints at the end of a run.
func (r *Report) Summary() string {
	var b strings.Builder
	s := &r.Stats
	b.WriteString("\nfinished run\n")
	// vw counts the examples of all passes, and divides.
	if r.Passes <= 1 {
		fmt.Fprintf(&b, "number of examples = %d\n", s.Examples)
	} else {
		fmt.Fprintf(&b, "number of examples per pass = %d\n", s.Examples/uint64(r.Passes))
		fmt.Fprintf(&b, "passes used = %d\n", r.Passes)
	}
	fmt.Fprintf(&b, "weighted example sum = %f\n", s.Weighted())
	fmt.Fprintf(&b, "weighted label sum = %f\n", s.Labels)
	b.WriteString("average loss = ")
	switch v := r.AverageLoss(); {
	case r.Holdout && math.IsNaN(v):
		b.WriteString("undefined (no holdout)\n")
	case math.IsNaN(v) && s.Labeled <= 0:
		b.WriteString("n.a.\n")
	case r.Holdout:
		fmt.Fprintf(&b, "%s h\n", FormatMean(v))
	default:
		fmt.Fprintf(&b, "%s\n", FormatMean(v))
	}
	if !math.IsNaN(r.LogLoss) {
		held := ""
		if r.Holdout {
			held = " h"
		}
		fmt.Fprintf(&b, "average multiclass log loss = %f%s\n", r.LogLoss, held)
	}
	seen := loss.LabelStats{
		Weight: s.Labeled, Sum: s.Labels,
		First: s.Seen.First, Second: s.Seen.Second, More: s.Seen.More,
		None: feature.NoLabel, Range: &r.Range,
	}
	if c, l, ok := loss.BestConstant(r.Loss, seen); ok && !r.NoBestConstant {
		fmt.Fprintf(&b, "best constant = %f\n", c)
		if !math.IsNaN(float64(l)) {
			fmt.Fprintf(&b, "best constant's loss = %f\n", l)
		}
	}
	fmt.Fprintf(&b, "total feature number = %d\n", s.Features)
	return b.String()
}
