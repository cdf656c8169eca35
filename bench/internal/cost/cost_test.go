// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"math"
	"testing"
)

// A command is measured with the loss that it prints and the memory of its process.
func TestMeasure(t *testing.T) {
	s, out, err := Measure(t.Context(), "sh", "-c", "echo text; echo 'average loss = 0.25 h' >&2")
	if err != nil {
		t.Skipf("no shell: %v", err)
	}
	if s.Loss != 0.25 || s.Wall <= 0 || s.Memory <= 0 || out != "text\naverage loss = 0.25 h\n" {
		t.Errorf("got %+v and %q", s, out)
	}
	if s, _, err = Measure(t.Context(), "sh", "-c", "true"); err != nil || !math.IsNaN(s.Loss) {
		t.Errorf("without a loss: got %g, %v", s.Loss, err)
	}
	if _, _, err := Measure(t.Context(), "sh", "-c", "exit 3"); err == nil {
		t.Error("a command that fails is accepted")
	}
}

// Each cost has a median of its own.
func TestMedian(t *testing.T) {
	got := Median([]Sample{{3, 1, 5, 0.5}, {1, 9, 7, 0.6}, {2, 2, 6, 0.7}})
	if want := (Sample{2, 2, 6, 0.5}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
