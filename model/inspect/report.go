// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/model"
)

// weights visits the weights that are not 0, in order.
func weights(r *model.Regressor, f func(index uint32, w float32)) {
	v := r.Weights
	stride, slot := max(v.Stride, 1), 0
	if len(v.Slots) > 0 {
		slot = v.Slots[0]
	}
	for i, at := 0, slot; at < len(v.Data); i, at = i+1, at+stride {
		if w := v.Data[at]; w != 0 {
			f(uint32(i), w)
		}
	}
}

// AppendModel appends a summary of the header and the weights.
func AppendModel(dst []byte, file string, r *model.Regressor) []byte {
	line := func(what, format string, args ...any) {
		dst = fmt.Appendf(dst, "%-10s "+format+"\n", append([]any{what}, args...)...)
	}
	line("model", "%s, of version %s", file, r.Version)
	if r.ID != "" {
		line("id", "%s", r.ID)
	}
	line("bits", "%d", r.Bits)
	line("labels", "%g to %g", r.MinLabel, r.MaxLabel)
	if text := strings.TrimSpace(string(model.AppendOptions(nil, r.Options))); text != "" {
		line("options", "%s", text)
	}
	for _, l := range []struct {
		what   string
		values []string
	}{{"ngram", r.NGrams}, {"skips", r.Skips}} {
		if len(l.values) > 0 {
			line(l.what, "%s", strings.Join(l.values, " "))
		}
	}
	if s := r.Resume; s != nil {
		line("state", "to train on: t = %g, %d examples in the last run", s.T, s.ExampleNumber)
	} else {
		line("state", "none: to predict with")
	}
	n, sum, squares, lo, hi := 0, 0.0, 0.0, float32(0), float32(0)
	weights(r, func(_ uint32, w float32) {
		n++
		sum += math.Abs(float64(w))
		squares += float64(w) * float64(w)
		lo, hi = min(lo, w), max(hi, w)
	})
	line("weights", "%d of %d are not 0, from %.6g to %.6g", n, uint64(1)<<r.Bits, lo, hi)
	line("size", "sum of |w| %.6g, root of the sum of w² %.6g", sum, math.Sqrt(squares))
	return dst
}

// Weight is a weight of a model other than 0.
type Weight struct {
	Index uint32
	Value float32
}

// Top returns the n largest weights by absolute value, largest and NaN first; n < 0: all.
func Top(r *model.Regressor, n int) (top []Weight) {
	weights(r, func(i uint32, w float32) { top = append(top, Weight{i, w}) })
	slices.SortFunc(top, func(a, b Weight) int {
		return cmp.Or(-cmp.Compare(size(a.Value), size(b.Value)), cmp.Compare(a.Index, b.Index))
	})
	if n >= 0 {
		top = top[:min(n, len(top))]
	}
	return top
}

// Name returns the name of the features that share a weight, joined by |, or its index if no name is known.
func (n *Names) Name(index uint32) string {
	var names []string
	for _, f := range n.of(index) {
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return fmt.Sprintf("#%d", index)
	}
	return strings.Join(names, "|")
}

// AppendTop appends a table of the n largest weights; n < 0: of all. names may be nil.
func AppendTop(dst []byte, r *model.Regressor, names *Names, n int) []byte {
	rows := Top(r, -1)
	if len(rows) == 0 {
		return append(dst, "all weights are 0\n"...)
	}
	largest := float32(0) // of the finite ones
	if i := slices.IndexFunc(rows, func(x Weight) bool { return size(x.Value) <= math.MaxFloat32 }); i >= 0 {
		largest = abs(rows[i].Value)
	}
	if n >= 0 {
		rows = rows[:min(n, len(rows))]
	}
	seen := names != nil && names.seen
	dst = fmt.Appendf(dst, "%12s %9s %10s", "weight", "relative", "index")
	if seen {
		dst = fmt.Appendf(dst, " %9s %11s %11s", "examples", "least", "greatest")
	}
	if names != nil {
		dst = append(dst, "  name"...)
	}
	dst = append(dst, '\n')
	for _, x := range rows {
		shared := names.of(x.Index)
		for i := 0; i == 0 || i < len(shared); i++ {
			dst = fmt.Appendf(dst, "%12.6g %8.2f%% %10d", x.Value, 100*float64(x.Value)/float64(largest), x.Index)
			switch {
			case i < len(shared) && shared[i].Count > 0:
				f := shared[i]
				dst = fmt.Appendf(dst, " %9d %11.6g %11.6g", f.Count, f.Min, f.Max)
			case seen:
				dst = fmt.Appendf(dst, " %9d %11s %11s", 0, "", "")
			}
			switch {
			case names == nil:
			case len(shared) == 0:
				dst = append(dst, "  (no name is known)"...)
			default:
				dst = append(append(dst, "  "...), shared[i].Name...)
			}
			if len(shared) > 1 {
				dst = fmt.Appendf(dst, "  (%d names share this weight)", len(shared))
			}
			dst = append(dst, '\n')
		}
	}
	return dst
}

// AppendNamespaces appends a table with the sum of the weights of each namespace, and the
// number of names that share a weight with another.
func AppendNamespaces(dst []byte, r *model.Regressor, names *Names) []byte {
	type total struct {
		features, weighing int
		sum, largest       float64
	}
	totals := map[string]*total{}
	dense := map[uint32]float32{}
	weights(r, func(i uint32, w float32) { dense[i] = w })
	together := 0
	for _, f := range names.all() {
		space := names.namespaces(f.Name)
		t := totals[space]
		if t == nil {
			t = &total{}
			totals[space] = t
		}
		t.features++
		if len(names.of(f.Index)) > 1 {
			together++
		}
		if w := float64(abs(dense[f.Index])); w > 0 {
			t.weighing++
			t.sum += w
			t.largest = max(t.largest, w)
		}
	}
	spaces := make([]string, 0, len(totals))
	for space := range totals {
		spaces = append(spaces, space)
	}
	slices.SortFunc(spaces, func(a, b string) int {
		return cmp.Or(-cmp.Compare(totals[a].sum, totals[b].sum), strings.Compare(a, b))
	})
	dst = fmt.Appendf(dst, "%10s %10s %12s %12s  namespace\n", "features", "not 0", "sum of |w|", "largest |w|")
	for _, space := range spaces {
		t := totals[space]
		dst = fmt.Appendf(dst, "%10d %10d %12.6g %12.6g  %s\n", t.features, t.weighing, t.sum, t.largest, space)
	}
	if together > 0 {
		dst = fmt.Appendf(dst, "%d of %d names share their weight with others: more bits would part them\n", together, len(names.byName))
	}
	return dst
}

// size returns |w|, and infinity for a NaN, which thus precedes all finite weights.
func size(w float32) float32 {
	if w != w {
		return float32(math.Inf(1))
	}
	return abs(w)
}

func abs(w float32) float32 { return max(w, -w) }
