// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/model"
)

// AppendDiff appends the differences of model b from a: the header, the state, a summary of the weights,
// and the n weights that differ most (n < 0: all that differ). names may be nil.
func AppendDiff(dst []byte, a, b *model.Regressor, names *Names, n int) []byte {
	before := len(dst)
	dst = appendHeaders(dst, a, b)
	if a.Bits != b.Bits {
		return append(dst, "weights    cannot be compared: their numbers mean other features\n"...)
	}
	dst = appendFloats(dst, a, b)
	type row struct {
		index uint32
		a, b  float32
	}
	values := map[uint32]*row{}
	var rows []*row
	at := func(i uint32) *row {
		if values[i] == nil {
			values[i] = &row{index: i}
			rows = append(rows, values[i])
		}
		return values[i]
	}
	weights(a, func(i uint32, w float32) { at(i).a = w })
	weights(b, func(i uint32, w float32) { at(i).b = w })
	slices.SortFunc(rows, func(x, y *row) int { return cmp.Compare(x.index, y.index) })

	var onlyA, onlyB, differ int
	var distance, aa, bb, ab float64
	for _, x := range rows {
		va, vb := float64(x.a), float64(x.b)
		aa, bb, ab = aa+va*va, bb+vb*vb, ab+va*vb
		if !same(x.a, x.b) { // the difference of two infinite weights is not a number
			distance += (va - vb) * (va - vb)
		}
		switch {
		case x.b == 0:
			onlyA++
		case x.a == 0:
			onlyB++
		case !same(x.a, x.b):
			differ++
		}
	}
	if onlyA+onlyB+differ == 0 {
		if len(dst) == before {
			return append(dst, "the models are the same\n"...)
		}
		return append(dst, "weights    the same\n"...)
	}
	dst = fmt.Appendf(dst, "weights    %d differ, %d are not 0 in the first alone, %d in the second alone, %d are the same\n",
		differ, onlyA, onlyB, len(rows)-differ-onlyA-onlyB)
	dst = fmt.Appendf(dst, "distance   %.6g", math.Sqrt(distance))
	if aa > 0 && bb > 0 {
		dst = fmt.Appendf(dst, ", cosine %.6f", ab/math.Sqrt(aa*bb))
	}
	dst = append(dst, '\n')

	rows = slices.DeleteFunc(rows, func(x *row) bool { return same(x.a, x.b) })
	slices.SortStableFunc(rows, func(x, y *row) int { return -cmp.Compare(size(x.a-x.b), size(y.a-y.b)) })
	if n >= 0 {
		rows = rows[:min(n, len(rows))]
	}
	if len(rows) == 0 {
		return dst
	}
	dst = fmt.Appendf(dst, "\n%12s %12s %12s %10s", "first", "second", "difference", "index")
	if names != nil {
		dst = append(dst, "  name"...)
	}
	dst = append(dst, '\n')
	for _, x := range rows {
		dst = fmt.Appendf(dst, "%12.6g %12.6g %12.6g %10d", x.a, x.b, x.b-x.a, x.index)
		if shared := names.of(x.index); len(shared) > 0 {
			var list []string
			for _, f := range shared {
				list = append(list, f.Name)
			}
			dst = append(append(dst, "  "...), strings.Join(list, ", ")...)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// appendHeaders appends the differences besides the weights.
func appendHeaders(dst []byte, a, b *model.Regressor) []byte {
	line := func(what string, a, b string) {
		if a != b {
			dst = fmt.Appendf(dst, "%-10s %s | %s\n", what, a, b)
		}
	}
	state := func(r *model.Regressor) string {
		if r.Resume == nil {
			return "none"
		}
		return fmt.Sprintf("t = %g", r.Resume.T)
	}
	options := func(r *model.Regressor) string {
		return strings.TrimSpace(string(model.AppendOptions(nil, r.Options)))
	}
	line("version", a.Version, b.Version)
	line("id", a.ID, b.ID)
	line("bits", fmt.Sprint(a.Bits), fmt.Sprint(b.Bits))
	line("labels", fmt.Sprintf("%g to %g", a.MinLabel, a.MaxLabel), fmt.Sprintf("%g to %g", b.MinLabel, b.MaxLabel))
	line("options", options(a), options(b))
	line("ngram", strings.Join(a.NGrams, " "), strings.Join(b.NGrams, " "))
	line("skips", strings.Join(a.Skips, " "), strings.Join(b.Skips, " "))
	line("state", state(a), state(b))
	if a.Resume != nil && b.Resume != nil && same(a.Resume.T, b.Resume.T) && !sameSums(a.Resume, b.Resume) {
		dst = append(dst, "state      other sums over the examples differ\n"...)
	}
	if len(a.Section) != len(b.Section) {
		line("section", fmt.Sprintf("%d bytes", len(a.Section)), fmt.Sprintf("%d bytes", len(b.Section)))
	} else if !bytes.Equal(a.Section, b.Section) {
		dst = fmt.Appendf(dst, "section    the %d bytes beside the weights differ\n", len(a.Section))
	}
	return dst
}

// same reports whether two numbers are equal. NaN equals itself here: it is as wrong in both models.
func same[F float32 | float64](a, b F) bool { return a == b || a != a && b != b }

// sameSums reports whether all sums over the examples are the same. The texts of two floats are equal only
// if the floats are, or if both are NaN.
func sameSums(a, b *model.Resume) bool { return fmt.Sprint(*a) == fmt.Sprint(*b) }

// appendFloats appends the number of floats beside the weights that differ. If one model has fewer floats, the line of
// the state or that of the options shows it.
func appendFloats(dst []byte, a, b *model.Regressor) []byte {
	fa, fb := floats(a), floats(b)
	if len(fa) != len(fb) {
		return dst
	}
	n := 0
	x, y := a.Weights, b.Weights
	for i := range min(len(x.Data)/max(x.Stride, 1), len(y.Data)/max(y.Stride, 1)) {
		for k := 1; k < len(fa); k++ {
			if !same(x.Data[i*x.Stride+fa[k]], y.Data[i*y.Stride+fb[k]]) {
				n++
			}
		}
	}
	if n == 0 {
		return dst
	}
	return fmt.Appendf(dst, "floats     %d differ beside the weights, such as adaptive sums\n", n)
}

// floats returns the offsets of the floats of a weight, the weight first.
func floats(r *model.Regressor) []int {
	k := r.RowFloats()
	if k == 0 {
		return r.Weights.Slots
	}
	all := make([]int, k)
	for i := range all {
		all[i] = i
	}
	return all
}
