// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// weighEach is the definition of weigh, as in AccumulateWeightedAvg of vw.
func weighEach(dst, src, sums []float32, stride, normalizedSlot, scratchSlot int) {
	for i, sum := range sums {
		in, out := src[i*stride:][:stride], dst[i*stride:][:stride]
		for slot, v := range in {
			switch {
			case slot == scratchSlot && slot > 0:
				v = 0
			case sum <= 0 && slot == 0:
				v = 0
			case sum <= 0:
			case slot == 0, slot == 1, slot == normalizedSlot:
				v *= in[1] / sum
			}
			out[slot] = v
		}
	}
}

// weigh returns the same bits on every processor, in place and into another vector.
func TestWeigh(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	odd := []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1)), -1, 1e-45, 3e38}
	value := func() float32 {
		if r.IntN(8) == 0 {
			return odd[r.IntN(len(odd))]
		}
		return float32(r.NormFloat64())
	}
	for range 2000 {
		stride := []int{2, 3, 4, 4, 4}[r.IntN(5)]
		normalized, scratch := 0, 0
		if r.IntN(2) == 0 && stride > 2 {
			normalized = 2
		}
		if r.IntN(2) == 0 && stride-1 > max(normalized, 1) {
			scratch = stride - 1
		}
		n := 1 + r.IntN(40)
		src, sums := make([]float32, n*stride), make([]float32, n)
		for i := range src {
			src[i] = value()
		}
		for i := range sums {
			sums[i] = value()
		}
		want, before := make([]float32, len(src)), slices.Clone(src)
		weighEach(want, src, sums, stride, normalized, scratch)
		dst := make([]float32, len(src))
		Weigh(dst, src, sums, stride, normalized, scratch)
		same(t, "src", src, before)
		same(t, "dst", dst, want)
		inside := make([]float32, len(src))
		at := inside[len(inside)-n:]
		copy(at, sums)
		Weigh(inside, src, at, stride, normalized, scratch)
		same(t, "sums at the end of dst", inside, want)
		Weigh(src, src, sums, stride, normalized, scratch)
		same(t, "in place", src, want)
	}
}

// same checks for equal bits, except of NaN.
func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s: float %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func BenchmarkWeigh(b *testing.B) {
	const n = 1 << 20
	src, dst, sums := make([]float32, 4*n), make([]float32, 4*n), make([]float32, n)
	for i := range sums {
		sums[i], src[4*i+1] = 2, 1
	}
	for _, k := range []struct {
		name string
		dst  []float32
	}{{"elsewhere", dst}, {"in-place", src}} {
		b.Run(k.name, func(b *testing.B) {
			b.SetBytes(16 * n)
			for b.Loop() {
				Weigh(k.dst, src, sums, 4, 2, 3)
			}
		})
	}
}
