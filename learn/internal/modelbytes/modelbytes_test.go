// SPDX-License-Identifier: Apache-2.0

package modelbytes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type config struct{ Size int }

func encoded(t *testing.T) []byte {
	t.Helper()
	e, err := NewEncoder(nil, "gvwtest1", config{2})
	if err != nil {
		t.Fatal(err)
	}
	e.Float32s([]float32{1.5, -2})
	return e.Bytes()
}

func TestRoundTrip(t *testing.T) {
	var c config
	d, err := Decode(encoded(t), "gvwtest1", &c)
	if err != nil {
		t.Fatal(err)
	}
	x, err := d.Float32s(c.Size)
	if err != nil || d.End() != nil {
		t.Fatal(err, d.End())
	}
	if diff := cmp.Diff([]float32{1.5, -2}, x); diff != "" {
		t.Error(diff)
	}
}

func TestEveryDamageIsFound(t *testing.T) {
	whole := encoded(t)
	for i := range whole {
		for bit := range 8 {
			data := append([]byte(nil), whole...)
			data[i] ^= 1 << bit
			if _, err := Decode(data, "gvwtest1", new(config)); err == nil {
				t.Errorf("bit %d of byte %d: got no error", bit, i)
			}
		}
		if _, err := Decode(whole[:i], "gvwtest1", new(config)); err == nil {
			t.Errorf("cut off at byte %d: got no error", i)
		}
	}
}

func TestArraysFitTheData(t *testing.T) {
	d, err := Decode(encoded(t), "gvwtest1", new(config))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{-1, 3, 1 << 62} {
		if _, err := d.Float32s(n); err == nil || !strings.Contains(err.Error(), "8 bytes follow") {
			t.Errorf("an array of %d: got %v, want an error", n, err)
		}
	}
	if err := d.End(); err == nil || !strings.Contains(err.Error(), "bytes follow the last array, want 0") {
		t.Errorf("End before the array: got %v, want an error", err)
	}
}
