// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/kernels"
)

func TestVecHasItsKind(t *testing.T) {
	for _, c := range []struct {
		v    Vector
		kind kernels.Kind
		name string
	}{
		{Vec([]float32{1, 2}), kernels.Float32, "float32"},
		{Vec([]float64{1, 2}), kernels.Float64, "float64"},
		{Vec([]int32{1, 2}), kernels.Int32, "int32"},
		{Vec([]int64{1, 2}), kernels.Int64, "int64"},
		{Vec([]uint32{1, 2}), kernels.Uint32, "uint32"},
		{Vec([]uint64{1, 2}), kernels.Uint64, "uint64"},
		{Vec([]byte{1, 2}), kernels.Byte, "byte"},
	} {
		if c.v.kind != c.kind || c.v.kind.String() != c.name || c.v.Len() != 2 {
			t.Errorf("%s: got %v with %d elements", c.name, c.v.kind, c.v.Len())
		}
		if got, want := len(c.v.bytes()), 2*c.kind.Size(); got != want {
			t.Errorf("%s: got %d bytes, want %d", c.name, got, want)
		}
	}
	if got := len(Vec[float32](nil).bytes()); got != 0 {
		t.Errorf("an empty vector has %d bytes", got)
	}
}

func TestVecAllocatesNothing(t *testing.T) {
	s := make([]float32, 10)
	var v Vector
	if n := testing.AllocsPerRun(100, func() { v = Vec(s).Named("gradient") }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
	if v.Len() != 10 {
		t.Error("the view lost its length")
	}
}

func TestOverlaps(t *testing.T) {
	s := make([]float64, 10)
	for _, c := range []struct {
		a, b Vector
		want bool
	}{
		{Vec(s), Vec(s), true},
		{Vec(s[:5]), Vec(s[5:]), false},
		{Vec(s[:6]), Vec(s[5:]), true},
		{Vec(s[5:]), Vec(s[:6]), true},
		{Vec(s[:0]), Vec(s), false},
	} {
		if got := c.a.overlaps(c.b); got != c.want {
			t.Errorf("%d elements and %d: got %v, want %v", c.a.n, c.b.n, got, c.want)
		}
	}
}

// TestCombine compares with the loop in each kind, for lengths around the
// kernel's blocks, in place and not.
func TestCombine(t *testing.T) {
	checkCombine(t, func(r *rand.Rand) float32 { return float32(r.NormFloat64()) })
	checkCombine(t, func(r *rand.Rand) float64 { return r.NormFloat64() })
	checkCombine(t, func(r *rand.Rand) int32 { return int32(r.Uint32()) })
	checkCombine(t, func(r *rand.Rand) int64 { return int64(r.Uint64()) })
	checkCombine(t, (*rand.Rand).Uint32)
	checkCombine(t, (*rand.Rand).Uint64)
}

func checkCombine[T kernels.Number](t *testing.T, draw func(*rand.Rand) T) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 3, 7, 8, 9, 64, 1001} {
		a, b := make([]T, n), make([]T, n)
		for i := range a {
			a[i], b[i] = draw(rng), draw(rng)
		}
		for _, op := range []Op{Sum, Min, Max, Product} {
			want := make([]T, n)
			for i := range want {
				switch op {
				case Sum:
					want[i] = a[i] + b[i]
				case Min:
					want[i] = min(a[i], b[i])
				case Max:
					want[i] = max(a[i], b[i])
				case Product:
					want[i] = a[i] * b[i]
				}
			}
			apart, left, right := make([]T, n), append([]T(nil), a...), append([]T(nil), b...)
			kind := kernels.KindOf[T]()
			kernels.Combine(kind, op, Vec(apart).bytes(), Vec(a).bytes(), Vec(b).bytes())
			kernels.Combine(kind, op, Vec(left).bytes(), Vec(left).bytes(), Vec(b).bytes())
			kernels.Combine(kind, op, Vec(right).bytes(), Vec(a).bytes(), Vec(right).bytes())
			for _, got := range [][]T{apart, left, right} {
				if d := cmp.Diff(want, got); n > 0 && d != "" {
					t.Fatalf("%v of %d %v:\n%s", op, n, kind, d)
				}
			}
		}
	}
}

func TestFloatCorners(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), 0.0
	minus := math.Copysign(0, -1)
	for _, c := range []struct {
		op         Op
		a, b, want float64
	}{
		{Sum, minus, minus, minus},
		{Sum, minus, zero, zero},
		{Sum, inf, -inf, nan},
		{Sum, nan, 1, nan},
		{Min, minus, zero, minus},
		{Min, zero, minus, minus},
		{Max, minus, zero, zero},
		{Max, zero, minus, zero},
		{Max, 1, nan, nan},
		{Min, nan, 1, nan},
		{Product, minus, 2, minus},
		{Product, inf, zero, nan},
		{Product, nan, zero, nan},
	} {
		d64, d32 := []float64{c.b}, []float32{float32(c.b)}
		kernels.Combine(kernels.Float64, c.op, Vec(d64).bytes(), Vec([]float64{c.a}).bytes(), Vec(d64).bytes())
		kernels.Combine(kernels.Float32, c.op, Vec(d32).bytes(), Vec([]float32{float32(c.a)}).bytes(), Vec(d32).bytes())
		for _, got := range []float64{d64[0], float64(d32[0])} {
			if math.IsNaN(c.want) != math.IsNaN(got) || (!math.IsNaN(got) && math.Float64bits(got) != math.Float64bits(c.want)) {
				t.Errorf("%v of %v and %v: got %v, want %v", c.op, c.a, c.b, got, c.want)
			}
		}
	}
}

func BenchmarkCombine(b *testing.B) {
	const n = 64 << 10
	d, x := make([]float32, n), make([]float32, n)
	b.SetBytes(4 * n)
	for b.Loop() {
		kernels.Combine(kernels.Float32, Sum, Vec(d).bytes(), Vec(x).bytes(), Vec(d).bytes())
	}
}
