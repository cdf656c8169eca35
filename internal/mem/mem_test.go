// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestHugeChangesNothing(t *testing.T) {
	for _, n := range []int{0, 1, hugeFrom/4 - 1, hugeFrom / 4, 3<<20 + 5} {
		s := make([]float32, n)
		Huge(s)
		for i := range s {
			if s[i] != 0 {
				t.Fatalf("float %d of %d is %v, want 0", i, n, s[i])
			}
			s[i] = float32(i)
		}
		Huge(s)
		for i := range s {
			if s[i] != float32(i) {
				t.Fatalf("float %d of %d is %v, want %d", i, n, s[i], i)
			}
		}
	}
}

func TestCellsShareMemory(t *testing.T) {
	s := make([]float32, 12)
	c := Cells(s)
	if len(c) != 3 {
		t.Fatalf("12 floats make %d cells, want 3", len(c))
	}
	c[1][2] = 7
	s[11] = 8
	if s[6] != 7 || c[2][3] != 8 {
		t.Errorf("floats %v and cells %v differ", s, c)
	}
	if c := Cells(nil); len(c) != 0 {
		t.Errorf("no floats make %d cells", len(c))
	}
}

func TestCellsRefusesTorsos(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("6 floats made cells of 4")
		}
	}()
	Cells(make([]float32, 6))
}

var sink float32

// BenchmarkFirstTouch is a learner's first pass over a fresh table: allocation
// and a million random updates.
func BenchmarkFirstTouch(b *testing.B) {
	for _, alloc := range []struct {
		name string
		f    func(int) []float32
	}{
		{"make", func(n int) []float32 { return make([]float32, n) }},
		{"huge", func(n int) []float32 {
			s := make([]float32, n)
			Huge(s)
			return s
		}},
	} {
		for _, mib := range []int{16, 64, 256} {
			b.Run(fmt.Sprintf("%s/%dMiB", alloc.name, mib), func(b *testing.B) {
				n := mib << 18
				rng := rand.New(rand.NewPCG(1, 2))
				at := make([]uint32, 1<<20)
				for i := range at {
					at[i] = uint32(rng.IntN(n))
				}
				for b.Loop() {
					s := alloc.f(n)
					for _, i := range at {
						s[i]++
					}
					sink += s[0]
				}
			})
		}
	}
}

func TestZeros(t *testing.T) {
	table := make([]float32, 101)
	for from := range 20 { // also where no word begins
		s := table[from:]
		for _, at := range []int{-1, 0, 1, 15, 16, 17, 40, 80} {
			want := len(s)
			if clear(table); at >= 0 {
				s[at], want = math.Float32frombits(1<<31), at // -0 has a bit
			}
			if got := Zeros(s); got != want {
				t.Errorf("%d floats, of which number %d is -0: got %d zeros, want %d", len(s), at, got, want)
			}
		}
	}
}

func TestFloatsHaveTheBits(t *testing.T) {
	bits := []uint32{0, 1, 0x7fa00001, ^uint32(0)}
	for i, f := range Floats(bits) {
		if got := math.Float32bits(f); got != bits[i] {
			t.Errorf("float %d has the bits %#x, want %#x", i, got, bits[i])
		}
	}
}
