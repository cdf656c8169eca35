// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// foldCase is a sum of some vectors into some places, between guards.
type foldCase struct {
	kind   Kind
	n      int // bytes
	ops    [][]byte
	dsts   [][]byte
	within int // the first of dsts is this one of ops; -1: none is
}

const (
	foldGuard = 0xa5
	guardSize = 64
)

// guarded returns n bytes with guards around them, at an address that is a multiple of an element
// and of nothing more.
func guarded(n, size int) (whole, part []byte) {
	words := make([]uint64, (n+2*guardSize)/8+2)
	whole = unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
	for i := range whole {
		whole[i] = foldGuard
	}
	return whole, whole[guardSize+size:][:n:n]
}

// check runs the fold by the kernel and by the plain loop, and compares: the same bits,
// but for which NaN it is, and nothing written beside them.
func (c foldCase) check(t *testing.T) {
	t.Helper()
	want := make([]byte, c.n)
	size := c.kind.Size()
	var ops, dsts []unsafe.Pointer
	for _, op := range c.ops {
		ops = append(ops, unsafe.Pointer(unsafe.SliceData(op)))
	}
	to := []unsafe.Pointer{unsafe.Pointer(unsafe.SliceData(want))}
	switch c.kind {
	case Float32:
		foldPlain[float32](to, ops, 0, c.n)
	case Float64:
		foldPlain[float64](to, ops, 0, c.n)
	case Int32, Uint32:
		foldPlain[int32](to, ops, 0, c.n)
	default:
		foldPlain[int64](to, ops, 0, c.n)
	}
	var wholes [][]byte
	for i := range c.dsts {
		var whole []byte
		whole, c.dsts[i] = guarded(c.n, size)
		wholes = append(wholes, whole)
		dsts = append(dsts, unsafe.Pointer(unsafe.SliceData(c.dsts[i])))
	}
	if c.within >= 0 {
		copy(c.dsts[0], c.ops[c.within])
		ops[c.within] = dsts[0]
	}
	Fold(c.kind, dsts, ops, c.n)
	for i, dst := range c.dsts {
		if at := differ(c.kind, dst, want); at >= 0 {
			t.Fatalf("%v, %d bytes, %d operands, place %d of %d: byte %d differs from the plain loop's", c.kind, c.n, len(ops), i, len(dsts), at)
		}
		copy(dst, slices.Repeat([]byte{foldGuard}, c.n))
		if k := slices.IndexFunc(wholes[i], func(b byte) bool { return b != foldGuard }); k >= 0 {
			t.Fatalf("%v, %d bytes: wrote beside the place, at %d", c.kind, c.n, k-guardSize-size)
		}
	}
}

// differ returns where a and b differ by more than which NaN it is; -1: nowhere.
func differ(kind Kind, a, b []byte) int {
	for i := 0; i < len(a); i += kind.Size() {
		x, y := a[i:i+kind.Size()], b[i:i+kind.Size()]
		same := slices.Equal(x, y)
		switch kind {
		case Float32:
			same = same || math.IsNaN(float64(View[float32](x)[0])) && math.IsNaN(float64(View[float32](y)[0]))
		case Float64:
			same = same || math.IsNaN(View[float64](x)[0]) && math.IsNaN(View[float64](y)[0])
		}
		if !same {
			return i
		}
	}
	return -1
}

var summedKinds = []Kind{Float32, Float64, Int32, Int64, Uint32, Uint64}

// TestFold: every length around the kernel's step, any number of operands and places.
func TestFold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, kind := range summedKinds {
		for elems := range 100 {
			c := foldCase{kind: kind, n: elems * kind.Size(), within: -1}
			for range 1 + rng.IntN(6) {
				_, op := guarded(c.n, kind.Size())
				for i := range op {
					op[i] = byte(rng.Uint32())
				}
				c.ops = append(c.ops, op)
			}
			c.dsts = make([][]byte, 1+rng.IntN(5))
			c.within = rng.IntN(len(c.ops)+1) - 1
			c.check(t)
		}
	}
}

// FuzzFold is TestFold for operands with any bits.
func FuzzFold(f *testing.F) {
	f.Add([]byte{0, 0, 0x80, 0x7f, 0, 0, 0x80, 0xff, 1, 2, 3, 4, 5, 6, 7, 8}, byte(0), byte(1), byte(1), byte(0))
	f.Add(make([]byte, 8*190), byte(5), byte(3), byte(4), byte(2))
	f.Fuzz(func(t *testing.T, data []byte, kind, ops, dsts, within byte) {
		c := foldCase{kind: summedKinds[int(kind)%len(summedKinds)], within: int(within)%(int(ops)%5+2) - 1}
		count := int(ops)%5 + 1
		c.n = len(data) / count &^ (c.kind.Size() - 1)
		for i := range count {
			_, op := guarded(c.n, c.kind.Size())
			copy(op, data[i*c.n:])
			c.ops = append(c.ops, op)
		}
		c.dsts = make([][]byte, int(dsts)%4+1)
		c.check(t)
	})
}

func BenchmarkFold(b *testing.B) {
	const n = 256 << 10
	for _, k := range []int{2, 4} {
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			var ops []unsafe.Pointer
			for range k {
				ops = append(ops, unsafe.Pointer(&make([]float32, n/4)[0]))
			}
			b.SetBytes(n)
			for b.Loop() {
				Fold(Float32, ops[:1], ops, n)
			}
		})
	}
}
