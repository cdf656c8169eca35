// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// The ranges ascend, and have each element that was written.
func TestTouched(t *testing.T) {
	const n = 16 << 20 // floats
	s := make([]float32, n+3)[3:]
	written := []int{0, 5, 1 << 20, 1<<20 + 1, 9 << 20, n - 1}
	for _, i := range written {
		s[i] = 1
	}
	end, covered, found := 0, 0, 0
	for lo, hi := range Touched(s) {
		if lo < end || hi <= lo || hi > n {
			t.Fatalf("range [%d, %d) after one that ends at %d, of %d", lo, hi, end, n)
		}
		end, covered = hi, covered+hi-lo
		for _, i := range written {
			if i >= lo && i < hi {
				found++
			}
		}
	}
	if found != len(written) {
		t.Errorf("the ranges have %d of %d elements that were written", found, len(written))
	}
	if covered == n {
		t.Log("the system counts all pages as touched: huge pages, or no page map")
	}
	for lo, hi := range Touched(s[:10]) {
		if lo != 0 || hi != 10 {
			t.Errorf("a short table: [%d, %d), want [0, 10)", lo, hi)
		}
	}
}

// The page map lacks pages of a file that this process has not read, and those of shared memory that others have written.
func TestTouchedOfMappedFiles(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "table"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(bytes.Repeat([]byte{1}, 2*TouchedFrom)); err != nil {
		t.Fatal(err)
	}
	for name, flags := range map[string]int{"private": syscall.MAP_PRIVATE, "shared": syscall.MAP_SHARED} {
		b, err := syscall.Mmap(int(f.Fd()), 0, 2*TouchedFrom, syscall.PROT_READ, flags)
		if err != nil {
			t.Fatal(err)
		}
		s := unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
		var got [][2]int
		for lo, hi := range Touched(s) {
			got = append(got, [2]int{lo, hi})
		}
		if d := cmp.Diff([][2]int{{0, len(s)}}, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if err := syscall.Munmap(b); err != nil {
			t.Error(err)
		}
	}
}

func TestAnonymousIn(t *testing.T) {
	const maps = `00400000-00500000 r-xp 00000000 fe:00 77         /usr/bin/gvw
c000000000-c000400000 rw-p 00000000 00:00 0    [anon: Go: heap]
c000400000-c000800000 rw-p 00000000 00:00 0
c000900000-c000a00000 rw-p 00000000 00:00 0
7f0000000000-7f0000100000 rw-s 00000000 00:05 9    /dev/zero (deleted)
7f0000100000-7f0000200000 rw-p 00000000 fe:00 8    /data/table
`
	for _, c := range []struct {
		name       string
		begin, end uint64
		want       bool
	}{
		{"within one mapping", 0xc000000010, 0xc000000020, true},
		{"over two mappings", 0xc0003ffff0, 0xc000800000, true},
		{"up to a gap", 0xc000700000, 0xc000800010, false},
		{"over a gap", 0xc000700000, 0xc000900010, false},
		{"shared", 0x7f0000000000, 0x7f0000000010, false},
		{"of a file", 0x7f0000100000, 0x7f0000100010, false},
		{"of the program", 0x400000, 0x400010, false},
		{"behind all", 0x7f0000300000, 0x7f0000300010, false},
	} {
		if got := anonymousIn([]byte(maps), c.begin, c.end); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if anonymousIn([]byte("not a map\n"), 0, 1) {
		t.Error("a text that is no map is accepted")
	}
}

// A page map that ends too early, or cannot be read, hides nothing.
func TestTouchedWithoutPageMap(t *testing.T) {
	s := make([]float32, 5000)
	got := [][2]int{}
	touched(bytes.NewReader(nil), s, uintptr(os.Getpagesize()), func(lo, hi int) bool {
		got = append(got, [2]int{lo, hi})
		return true
	})
	if d := cmp.Diff([][2]int{{0, 5000}}, got); d != "" {
		t.Errorf("without a page map (-want +got):\n%s", d)
	}
}

func BenchmarkTouched(b *testing.B) {
	for _, mib := range []int{4, 64} {
		b.Run(fmt.Sprint(mib, " MiB"), func(b *testing.B) {
			s := make([]float32, mib<<18)
			for i := range s {
				s[i] = 1
			}
			b.ReportAllocs()
			for b.Loop() {
				for lo, hi := range Touched(s) {
					_, _ = lo, hi
				}
			}
		})
	}
}
