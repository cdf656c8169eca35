// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/optim"
)

func randomVector(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// TestDotOrder holds dot and addScaledDot to the order of additions that dot's
// comment fixes, on lengths around the blocks' and the lanes' ends.
func TestDotOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 3, 4, 5, 1023, blockLen - 1, blockLen, blockLen + 1, 2*blockLen + 6} {
		x, y, z := randomVector(r, n), randomVector(r, n), randomVector(r, n)
		reference := func(x, y []float32) (sum float64) {
			for len(x) > 0 {
				m := min(blockLen, len(x))
				var lane [4]float64
				for i := range m {
					lane[i%4] += float64(x[i]) * float64(y[i])
				}
				sum += (lane[0] + lane[1]) + (lane[2] + lane[3])
				x, y = x[m:], y[m:]
			}
			return sum
		}
		if got, want := dot(x, y), reference(x, y); got != want {
			t.Errorf("n = %d: dot %v, want %v", n, got, want)
		}
		want := slices.Clone(x)
		for i := range want {
			want[i] += float32(0.3 * y[i])
		}
		got := addScaledDot(x, 0.3, y, z)
		if !slices.Equal(x, want) || got != reference(want, z) {
			t.Errorf("n = %d: addScaledDot differs from its parts", n)
		}
	}
}

func TestPrecondition(t *testing.T) {
	for _, tc := range []struct {
		h, want []float32
		l2      float64
	}{
		{[]float32{1, 4, 0}, []float32{1, 0.25, 0}, 0},
		{[]float32{1, 3, 0}, []float32{0.5, 0.25, 1}, 1},
		{[]float32{100, 1e-9}, []float32{0.01, 100}, 0}, // 10000/max
		{[]float32{0, 0}, []float32{0, 0}, 0},
	} {
		got := slices.Clone(tc.h)
		precondition(got, got, tc.l2) // in place, as InPlace has it
		for i := range got {
			if math.Abs(float64(got[i]-tc.want[i])) > 1e-7*float64(tc.want[i]) {
				t.Errorf("H %v with λ %v: got %v, want %v", tc.h, tc.l2, got, tc.want)
				break
			}
		}
	}
}

// TestAcceptAllocatesNothing: a pass costs no memory beyond the state.
func TestAcceptAllocatesNothing(t *testing.T) {
	const n = 100
	obj := objective(randomPoints(2, 50, n, sign), logistic, -50, 50)
	s, err := New(Config{Mem: 4, L2: 1, MaxPasses: 1000}, make([]float32, n))
	if err != nil {
		t.Fatal(err)
	}
	sums := s.InPlace()
	for s.State().Pass < 5 {
		req, _ := s.Request()
		_ = obj(context.Background(), req, sums)
		if err := s.Accept(sums); err != nil {
			t.Fatal(err)
		}
	}
	gradient := slices.Clone(sums.Gradient)
	if allocs := testing.AllocsPerRun(1, func() {
		copy(sums.Gradient, gradient)
		if err := s.Accept(sums); err != nil {
			t.Fatal(err)
		}
	}); allocs != 0 {
		t.Errorf("Accept allocates %v times", allocs)
	}
}

// BenchmarkDirection is one new direction of 2^20 weights from 15 pairs.
func BenchmarkDirection(b *testing.B) {
	const n, mem = 1 << 20, 15
	r := rand.New(rand.NewPCG(1, 1))
	s, err := New(Config{Mem: mem, MaxPasses: 2}, randomVector(r, n))
	if err != nil {
		b.Fatal(err)
	}
	for i := range mem {
		s.st.Y[i], s.st.S[i] = randomVector(r, n), randomVector(r, n)
		s.st.Rho[i] = 1e-9
	}
	s.st.Older = mem - 1
	s.st.Precond = randomVector(r, n)
	s.st.Next = optim.Gradient
	copy(s.st.Dir, s.st.X)
	b.SetBytes(4 * n)
	for b.Loop() {
		s.recurse(1e-3)
	}
}
