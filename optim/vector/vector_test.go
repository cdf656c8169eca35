// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

func randomVector(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// The reference kernels, as the comments of the fast ones define them.

func dotReference(x, y []float32, term func(i int) float64) (sum float64) {
	for lo := 0; lo < len(x); lo += blockLen {
		var lane [4]float64
		for i := lo; i < min(lo+blockLen, len(x)); i++ {
			lane[(i-lo)%4] += term(i)
		}
		sum += (lane[0] + lane[1]) + (lane[2] + lane[3])
	}
	return sum
}

// check compares every kernel with its reference on x, y, z, to the last bit.
func check(t *testing.T, a float32, x, y, z []float32) {
	t.Helper()
	same := func(what string, got, want float64) {
		t.Helper()
		if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("n = %d: %s is %v, want %v", len(x), what, got, want)
		}
	}
	dot := dotReference(x, y, func(i int) float64 { return float64(x[i]) * float64(y[i]) })
	same("Dot", Dot(x, y), dot)
	diag := dotReference(x, y, func(i int) float64 { return float64(float64(x[i])*float64(y[i])) * float64(z[i]) })
	same("DotDiag", DotDiag(x, z, y), diag)
	from := dotReference(x, y, func(i int) float64 {
		e := float64(x[i] - y[i])
		return float64(e*e) * float64(z[i])
	})
	same("DotDiagFrom", DotDiagFrom(x, y, z), from)

	mixed := slices.Clone(x)
	Mix(mixed, a, y, z)
	for i := range x {
		if want := float32(y[i]*z[i]) + float32(a*x[i]); math.Float32bits(mixed[i]) != math.Float32bits(want) && want == want {
			t.Fatalf("n = %d: Mix[%d] is %v, want %v", len(x), i, mixed[i], want)
		}
	}

	sum := make([]float32, len(x))
	for i := range sum {
		sum[i] = x[i] + float32(a*y[i])
	}
	got := make([]float32, len(x))
	AddScaled(got, x, a, y)
	for i := range got {
		if math.Float32bits(got[i]) != math.Float32bits(sum[i]) && got[i] == got[i] {
			t.Fatalf("n = %d: AddScaled[%d] is %v, want %v", len(x), i, got[i], sum[i])
		}
	}
	copy(got, x)
	want := dotReference(x, y, func(i int) float64 { return float64(sum[i]) * float64(z[i]) })
	same("AddScaledDot", AddScaledDot(got, a, y, z), want)
	for i := range got {
		if math.Float32bits(got[i]) != math.Float32bits(sum[i]) && got[i] == got[i] {
			t.Fatalf("n = %d: AddScaledDot[%d] is %v, want %v", len(x), i, got[i], sum[i])
		}
	}
}

// TestOrderOfAdditions compares the kernels with the documented order, on lengths around the
// ends of lanes and blocks and beyond the limit for several goroutines, for any number of
// goroutines.
func TestOrderOfAdditions(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 3, 4, 5, 1023, blockLen - 1, blockLen, blockLen + 1, 2*blockLen + 6, parallelLen - 1, parallelLen, parallelLen + 7} {
		x, y, z := randomVector(r, n), randomVector(r, n), randomVector(r, n)
		for _, threads := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(threads)
			check(t, 0.3, x, y, z)
		}
	}
}

// FuzzKernels compares the kernels with their references on any bits.
func FuzzKernels(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef01234567"), float32(0.5))
	f.Add([]byte{}, float32(1))
	f.Fuzz(func(t *testing.T, b []byte, a float32) {
		n := len(b) / 12
		v := make([][]float32, 3)
		for k := range v {
			v[k] = make([]float32, n)
			for i := range v[k] {
				v[k][i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*(k*n+i):]))
			}
		}
		check(t, a, v[0], v[1], v[2])
	})
}

func TestEachCoversAll(t *testing.T) {
	for _, n := range []int{0, 1, parallelLen - 1, parallelLen + blockLen/2} {
		seen := make([]int, n)
		Each(n, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				seen[i]++
			}
		})
		for i, c := range seen {
			if c != 1 {
				t.Fatalf("n = %d: element %d was visited %d times", n, i, c)
			}
		}
	}
}

func TestFirstWild(t *testing.T) {
	inf := float32(math.Inf(-1))
	for want, x := range map[int][]float32{-1: {1, -2, math.MaxFloat32}, 0: {inf}, 2: {0, 1, float32(math.NaN()), inf}} {
		if got := FirstWild(x); got != want {
			t.Errorf("%v: got %d, want %d", x, got, want)
		}
	}
}

func TestShortVectorsAllocateNothing(t *testing.T) {
	x, y := make([]float32, 1000), make([]float32, 1000)
	if allocs := testing.AllocsPerRun(10, func() {
		AddScaled(x, x, float32(Dot(x, y)), y)
		AddScaledDot(x, float32(DotDiag(x, y, x)), y, x)
	}); allocs != 0 {
		t.Errorf("the kernels allocate %v times", allocs)
	}
}

func BenchmarkAddScaledDot(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1 << 16, 1 << 18, 1 << 22} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			x, y, z := randomVector(r, n), randomVector(r, n), randomVector(r, n)
			b.SetBytes(int64(12 * n))
			for b.Loop() {
				AddScaledDot(x, 1e-9, y, z)
			}
		})
	}
}
