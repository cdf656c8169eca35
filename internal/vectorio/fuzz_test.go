// SPDX-License-Identifier: Apache-2.0

package vectorio

import (
	"bytes"
	"math"
	"slices"
	"testing"
)

// FuzzLine checks that numbers survive being written as a line or a frame and read again.
func FuzzLine(f *testing.F) {
	f.Add([]byte("1 -2.5\t3e7"))
	f.Add([]byte("nan inf -0 0x1p-3"))
	f.Add([]byte("1 2 x"))
	f.Fuzz(func(t *testing.T, line []byte) {
		roundTrip[float32](t, line)
		roundTrip[float64](t, line)
		roundTrip[int64](t, line)
	})
}

func roundTrip[T Number](t *testing.T, line []byte) {
	v, err := Parse[T](nil, line)
	if err != nil {
		return
	}
	text := Format(nil, v)
	again, err := Parse[T](nil, text)
	if err != nil || !slices.EqualFunc(v, again, same) {
		t.Errorf("%q gives %v, written %q, read %v, %v", line, v, text, again, err)
	}
	frame := Encode(nil, v)
	if again, err = Decode[T](nil, frame[8:]); err != nil || !slices.EqualFunc(v, again, same) {
		t.Errorf("%v as a frame gives %v, %v", v, again, err)
	}
}

// same reports whether a and b are equal; all NaNs are equal, -0 and 0 are not.
func same[T Number](a, b T) bool {
	return a != a && b != b || a == b && math.Signbit(float64(a)) == math.Signbit(float64(b))
}

// FuzzInput checks that any stream yields vectors within the limit, then an end or an
// error.
func FuzzInput(f *testing.F) {
	f.Add([]byte("1 2\n3"), false)
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00ab\xff"), true)
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xffab"), true)
	f.Fuzz(func(t *testing.T, b []byte, frames bool) {
		const most = 100
		in := NewInput(bytes.NewReader(b), frames, most)
		total := 0
		for {
			raw, err := in.read()
			if err != nil {
				return
			}
			if len(raw) > most {
				t.Fatalf("a vector of %d bytes", len(raw))
			}
			if total += len(raw); total > len(b) {
				t.Fatalf("%d bytes out of %d", total, len(b))
			}
		}
	})
}
