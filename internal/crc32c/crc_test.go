// SPDX-License-Identifier: Apache-2.0

package crc32c

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestKnownSums has the values of RFC 3720, appendix B.4, and a slice with whole blocks.
func TestKnownSums(t *testing.T) {
	t.Parallel()
	ones, up := make([]byte, 32), make([]byte, 32)
	for i := range ones {
		ones[i], up[i] = 0xff, byte(i)
	}
	for _, c := range []struct {
		name string
		b    []byte
		want uint32
	}{
		{"nothing", nil, 0},
		{"123456789", []byte("123456789"), 0xe3069283},
		{"zeros", make([]byte, 32), 0x8a9136aa},
		{"ones", ones, 0x62a8ab43},
		{"ascending", up, 0x46dd794e},
		{"1 MiB of zeros", make([]byte, 1<<20), 0x14298c12},
	} {
		if got := Checksum(c.b); got != c.want {
			t.Errorf("%s: Checksum = %#x, want %#x", c.name, got, c.want)
		}
	}
}

// TestUpdateAgreesWithHashCRC32 draws slices at any address, and divides them into any two parts.
func TestUpdateAgreesWithHashCRC32(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	room := make([]byte, 6*block)
	for i := range room {
		room[i] = byte(r.Uint32())
	}
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, 65).Draw(t, "from")
		to := rapid.IntRange(from, len(room)).Draw(t, "to")
		cut := rapid.IntRange(from, to).Draw(t, "cut")
		sum := rapid.Uint32().Draw(t, "sum")
		want := crc32.Update(sum, table, room[from:to])
		if got := Update(sum, room[from:to]); got != want {
			t.Fatalf("Update(%#x, %d bytes) = %#x, want %#x", sum, to-from, got, want)
		}
		if got := Update(Update(sum, room[from:cut]), room[cut:to]); got != want {
			t.Fatalf("in two parts of %d and %d bytes: %#x, want %#x", cut-from, to-cut, got, want)
		}
	})
}

// TestEveryBitCounts flips each bit of two blocks: a checksum finds each error of one bit.
func TestEveryBitCounts(t *testing.T) {
	t.Parallel()
	b := make([]byte, 2*block)
	sum := Checksum(b)
	for i := range 8 * len(b) {
		b[i/8] ^= 1 << (i % 8)
		if Checksum(b) == sum {
			t.Fatalf("bit %d of %d has no effect on the checksum", i, 8*len(b))
		}
		b[i/8] = 0
	}
}

func TestUpdateDoesNotAllocate(t *testing.T) {
	b := make([]byte, 3*block+7)
	if n := testing.AllocsPerRun(10, func() { Update(1, b) }); n != 0 {
		t.Errorf("%v allocations a call, want 0", n)
	}
}

func FuzzUpdate(f *testing.F) {
	f.Add(uint32(0), []byte("123456789"), 0)
	f.Add(uint32(1), make([]byte, 7), 1200)
	f.Fuzz(func(t *testing.T, sum uint32, b []byte, repeat int) {
		for want := len(b) * (repeat & 0xfff); len(b) > 0 && len(b) < want && len(b) < 1<<16; {
			b = append(b, b...)
		}
		if got, want := Update(sum, b), crc32.Update(sum, table, b); got != want {
			t.Errorf("Update(%#x, %d bytes) = %#x, want %#x", sum, len(b), got, want)
		}
	})
}

// BenchmarkUpdate compares with hash/crc32 and with a copy of the same bytes.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{block, 1 << 16, 1 << 20, 1 << 24} {
		data, room := make([]byte, n), make([]byte, n)
		for _, c := range []struct {
			name string
			run  func()
		}{
			{"crc32c", func() { Update(0, data) }},
			{"hash-crc32", func() { crc32.Update(0, table, data) }},
			{"copy", func() { copy(room, data) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					c.run()
				}
			})
		}
	}
}
