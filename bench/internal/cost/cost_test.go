// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A command is measured with the loss that it prints and the memory of its process.
func TestMeasure(t *testing.T) {
	s, out, err := Measure(t.Context(), "sh", "-c", "echo text; echo 'average loss = 0.25 h' >&2")
	if err != nil {
		t.Fatal(err)
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

// Lines are read as they were written, memory that is not known as zero; other text is refused.
func TestLines(t *testing.T) {
	var b bytes.Buffer
	if err := WriteLines(&b, "text", "gvw", 3, Sample{1, 2, math.NaN(), math.NaN()}, Sample{4, 5, 6, 0.5}); err != nil {
		t.Fatal(err)
	}
	got, err := ReadLines(&b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Line{{"text", "gvw", 1, 2, 0, 3}, {"text", "gvw", 4, 5, 6, 3}}, got); d != "" {
		t.Error(d)
	}
	if _, err := ReadLines(strings.NewReader("{}\nrows\n")); err == nil {
		t.Error("text is accepted")
	}
}
