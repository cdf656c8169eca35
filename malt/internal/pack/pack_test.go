// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// send encodes an update and decodes it again, as a dense vector of what arrives.
func send[T Element](t testing.TB, e *Encoder[T], indices []uint32, values []T) []T {
	var b []byte
	var err error
	if indices == nil {
		b, err = e.AppendDense(nil, values)
	} else {
		b, err = e.AppendSparse(nil, indices, values)
	}
	if err != nil {
		t.Fatal(err)
	}
	if most := MaxSize[T](e.format, e.length, len(indices)); len(b) > most {
		t.Fatalf("the update has %d bytes, MaxSize is %d", len(b), most)
	}
	u, err := NewDecoder[T](e.length).Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]T, e.length)
	if u.Indices == nil {
		copy(got, u.Values)
	}
	for j, i := range u.Indices {
		got[i] = u.Values[j]
	}
	return got
}

func TestPlainUpdatesAreExact(t *testing.T) {
	t.Run("float32", plainIsExact[float32])
	t.Run("float64", plainIsExact[float64])
}

func plainIsExact[T Element](t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.Float32(), 1, 40).Draw(rt, "values")
		want := make([]T, len(values))
		for i, v := range values {
			want[i] = T(v) / 3
		}
		e, err := NewEncoder[T](Format{}, len(want))
		if err != nil {
			rt.Fatal(err)
		}
		if got := send(t, e, nil, want); !slices.Equal(got, want) {
			rt.Fatalf("dense: got %v, want %v", got, want)
		}
		var indices []uint32
		var some []T
		masked := make([]T, len(want))
		for i, v := range want {
			if rapid.Bool().Draw(rt, "send") {
				indices, some, masked[i] = append(indices, uint32(i)), append(some, v), v
			}
		}
		if indices != nil {
			if got := send(t, e, indices, some); !slices.Equal(got, masked) {
				rt.Fatalf("sparse: got %v, want %v", got, masked)
			}
		}
	})
}

// TestFeedbackDeliversEverything sends the same values many times: the sum of what arrives
// differs from the sum of the values by what one update drops, not by what all drop.
func TestFeedbackDeliversEverything(t *testing.T) {
	for _, f := range []Format{{Code: F16}, {Code: Q8}, {Top: 3}, {Top: 3, Code: F16}, {Top: 7, Code: Q8}} {
		t.Run(fmt.Sprintf("%v-top%d", f.Code, f.Top), func(t *testing.T) {
			const length, updates = 600, 2000
			rng := rand.New(rand.NewPCG(3, 3))
			values := make([]float64, length)
			all := make([]uint32, length)
			for i := range values {
				values[i] = rng.NormFloat64() / 3
				all[i] = uint32(i)
			}
			for _, indices := range [][]uint32{nil, all} {
				e, err := NewEncoder[float64](f, length)
				if err != nil {
					t.Fatal(err)
				}
				sum := make([]float64, length)
				for range updates {
					for i, v := range send(t, e, indices, values) {
						sum[i] += v
					}
				}
				for i, v := range values {
					if d := math.Abs(sum[i] + e.residual[i] - updates*v); d > 1e-6 {
						t.Fatalf("entry %d: got %v and a rest of %v, want %v", i, sum[i], e.residual[i], updates*v)
					}
				}
			}
		})
	}
}

func TestErrorsOfOneUpdateAreBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	values := make([]float32, 1000)
	for i := range values {
		values[i] = float32(rng.NormFloat64())
	}
	for _, c := range []struct {
		code     Code
		relative float64 // to the value
		absolute float64 // to the largest of the block
	}{{F16, 1.0 / 2048, 1e-7}, {Q8, 0, 0.5 / 127 * 1.001}} {
		e, err := NewEncoder[float32](Format{Code: c.code, NoFeedback: true}, len(values))
		if err != nil {
			t.Fatal(err)
		}
		got := send(t, e, nil, values)
		for i, v := range values {
			lo := i / blockSize * blockSize
			most := float32(0)
			for _, x := range values[lo:min(lo+blockSize, len(values))] {
				most = max(most, x, -x)
			}
			if d := math.Abs(float64(got[i] - v)); d > c.relative*math.Abs(float64(v))+c.absolute*float64(most) {
				t.Errorf("%v: value %v arrives as %v", c.code, v, got[i])
			}
		}
	}
}

func TestTopTakesTheLargest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.Map(rapid.IntRange(-9, 9), func(i int) float32 { return float32(i) }), 2, 60).Draw(rt, "values")
		k := rapid.IntRange(1, len(values)-1).Draw(rt, "k")
		var s selection[float32]
		got := s.largest(nil, values, k)
		want := make([]uint32, len(values))
		for i := range want {
			want[i] = uint32(i)
		}
		abs := func(i uint32) float32 { return max(values[i], -values[i]) }
		slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(abs(b), abs(a)) })
		want = want[:k]
		slices.Sort(want)
		if d := gocmp.Diff(want, got); d != "" {
			rt.Fatalf("the %d largest of %v (-want +got):\n%s", k, values, d)
		}
	})
}

// TestHalfIsNearest converts each float16 and the values around the midpoints between them.
func TestHalfIsNearest(t *testing.T) {
	for h := range uint32(0x7c00) { // the finite ones that are not negative
		f := fromHalf(uint16(h))
		if got := toHalf(f); got != uint16(h) {
			t.Fatalf("float16 %#x is %v, which becomes %#x", h, f, got)
		}
		if got := toHalf(-f); got != uint16(h)|0x8000 {
			t.Fatalf("-%v becomes %#x", f, got)
		}
		if h == 0x7bff {
			continue
		}
		next := fromHalf(uint16(h + 1))
		middle := (f + next) / 2
		even := h + h&1
		for _, c := range []struct {
			value float32
			want  uint32
		}{{middle, even}, {math.Nextafter32(middle, f), h}, {math.Nextafter32(middle, next), h + 1}} {
			if got := toHalf(c.value); got != uint16(c.want) {
				t.Fatalf("%v, between %v and %v, becomes %#x, want %#x", c.value, f, next, got, c.want)
			}
		}
	}
	for _, c := range []struct {
		value float32
		want  uint16
	}{{65504, 0x7bff}, {65519, 0x7bff}, {65520, 0x7bff}, {1e30, 0x7bff}, {float32(math.Inf(-1)), 0xfbff}, {float32(math.NaN()), 0x7e00}} {
		if got := toHalf(c.value); got != c.want && got != c.want|0x8000 {
			t.Errorf("%v becomes %#x, want %#x", c.value, got, c.want)
		}
	}
}

func TestNotFiniteIsRefused(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		e, err := NewEncoder[float64](Format{Code: Q8}, 3)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.AppendDense(nil, []float64{0, bad, 1}); err == nil {
			t.Errorf("%v was compressed", bad)
		}
		_, err = e.AppendSparse(nil, []uint32{2}, []float64{bad})
		want := fmt.Sprintf("pack: entry 2 is %v: only finite values can be compressed; the model has diverged", bad)
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if got := send(t, e, nil, []float64{1, 0, 0}); math.Abs(got[0]-1) > 1e-6 {
			t.Errorf("after the refusal 1 arrives as %v", got[0])
		}
	}
}

func TestEncoderRefuses(t *testing.T) {
	if _, err := NewEncoder[float32](Format{Code: 7, Top: -1}, 3); err == nil || err.Error() != "pack: Code(7): no such code\npack: top -1: want 0 for all values, or a positive number" {
		t.Errorf("got %v", err)
	}
	if _, err := NewEncoder[float32](Format{}, 0); err == nil {
		t.Error("a vector without entries got an encoder")
	}
	e, err := NewEncoder[float32](Format{}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.AppendDense(nil, []float32{1}); err == nil {
		t.Error("1 value for 3 entries was encoded")
	}
	if _, err := e.AppendSparse(nil, []uint32{3}, []float32{1}); err == nil {
		t.Error("index 3 of 3 entries was encoded")
	}
	if _, err := e.AppendSparse(nil, []uint32{1, 2}, []float32{1}); err == nil {
		t.Error("2 indices and 1 value were encoded")
	}
}

func TestNothingIsAllocated(t *testing.T) {
	const length = 4096
	values := make([]float32, length)
	for i := range values {
		values[i] = float32(i)
	}
	for _, f := range []Format{{}, {Code: F16}, {Code: Q8}, {Top: 100}} {
		e, err := NewEncoder[float32](f, length)
		if err != nil {
			t.Fatal(err)
		}
		d := NewDecoder[float32](length)
		buf := make([]byte, 0, MaxSize[float32](f, length, 0))
		allocs := testing.AllocsPerRun(20, func() {
			b, err := e.AppendDense(buf, values)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Decode(b); err != nil {
				t.Fatal(err)
			}
		})
		if allocs != 0 {
			t.Errorf("%v, top %d: %v allocations an update, want 0", f.Code, f.Top, allocs)
		}
	}
}

func FuzzDecode(f *testing.F) {
	const length = 9
	for _, format := range []Format{{}, {Code: F16}, {Code: Q8}, {Top: 2}} {
		e, err := NewEncoder[float32](format, length)
		if err != nil {
			f.Fatal(err)
		}
		b, err := e.AppendDense(nil, make([]float32, length))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = append(make([]byte, 0, len(b)+8), b...)
		u, err := NewDecoder[float32](length).Decode(b)
		if err != nil {
			if !errors.Is(err, ErrUpdate) {
				t.Fatalf("got %v, want an error that wraps ErrUpdate", err)
			}
			return
		}
		if u.Indices == nil && len(u.Values) != length || u.Indices != nil && len(u.Indices) != len(u.Values) {
			t.Fatalf("got %d indices and %d values", len(u.Indices), len(u.Values))
		}
		for _, i := range u.Indices {
			if i >= length {
				t.Fatalf("got index %d", i)
			}
		}
	})
}
