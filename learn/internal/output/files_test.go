// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/learn/internal/vwtext"
)

// memory is a file in memory, with what was done to it.
type memory struct {
	bytes.Buffer
	done []string
	fail error // of Commit
}

func (m *memory) Commit() error { m.done = append(m.done, "commit"); return m.fail }
func (m *memory) Abort() error  { m.done = append(m.done, "abort"); return nil }

func (m *memory) create(string) (File, error) { return m, nil }

// A whole number has no decimals and any other has six. The text is the number, rounded to them.
func TestPredictionsAreTheirNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(rapid.Float32(), rapid.Float32Range(-2, 2), rapid.Map(rapid.Int16(), func(n int16) float32 { return float32(n) })).Draw(t, "value")
		text := string(appendPrediction(nil, v))
		whole, decimals, point := strings.Cut(text, ".")
		if isWhole := float64(v) == math.Trunc(float64(v)); point == isWhole || point && len(decimals) != 6 || whole == "-0" && !point {
			t.Fatalf("%v: got %q", v, text)
		}
		back, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Abs(back-float64(v)) > 5.000001e-7+0x1p-52*math.Abs(back) { // half a digit, and the rounding of back
			t.Fatalf("%v: got %q, which is %v, error %v", v, text, back, err)
		}
	})
}

// A file of predictions has a line per example, is final only when it is delivered, and has the
// digest of its bytes. A muted step writes nothing.
func TestPredictionFiles(t *testing.T) {
	var shown, raw memory
	files := &PredictionFiles{}
	if files.Any() {
		t.Error("there are predictions without a file")
	}
	var err error
	if files.Predictions, err = NewPredictions(shown.create, "p"); err != nil {
		t.Fatal(err)
	}
	if files.Raw, err = NewPredictions(raw.create, "r"); err != nil {
		t.Fatal(err)
	}
	add := func(p, r float32, tag string) {
		t.Helper()
		if err := files.Add(p, r, []byte(tag)); err != nil {
			t.Fatal(err)
		}
	}
	add(1, 3.25, "first")
	files.Mute = true
	add(7, 7, "again")
	files.Mute = false
	add(-0.5, -0.5, "")
	if shown.Len() > 0 {
		t.Errorf("%q is written before it is flushed", shown.String())
	}
	if err := files.Flush(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 first\n-0.500000\n", "3.250000 first\n-0.500000\n"}, []string{shown.String(), raw.String()}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	add(2, 2, "")
	digest, err := files.Predictions.Deliver()
	if want := sha256.Sum256(shown.Bytes()); err != nil || digest != want || !strings.HasSuffix(shown.String(), "\n2\n") {
		t.Errorf("%q with digest %x, want %x; error %v", shown.String(), digest, want, err)
	}
	raw.fail = errors.New("disk full")
	if _, err := files.Raw.Deliver(); !errors.Is(err, raw.fail) {
		t.Errorf("got %v, want %v", err, raw.fail)
	}
	files.Abort()
	if diff := cmp.Diff([]string{"commit", "abort"}, raw.done); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	(&PredictionFiles{}).Abort() // of a run without predictions
	if _, err := NewPredictions(func(string) (File, error) { return nil, raw.fail }, "p"); !errors.Is(err, raw.fail) {
		t.Errorf("got %v, want %v", err, raw.fail)
	}
}

// A file gets its final name only while the attempt holds its rank.
func TestUnderLease(t *testing.T) {
	lost := errors.New("another attempt has the rank")
	for _, held := range []error{nil, lost} {
		var m memory
		create := UnderLease(m.create, func(context.Context) error { return held })
		f, err := create("model")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprint(f, "weights"); err != nil {
			t.Fatal(err)
		}
		err = f.Commit()
		if committed := len(m.done) > 0; !errors.Is(err, held) || committed != (held == nil) || m.String() != "weights" {
			t.Errorf("lease %v: committed %v, error %v", held, committed, err)
		}
	}
	_, err := UnderLease(func(string) (File, error) { return nil, lost }, nil)("model")
	if !errors.Is(err, lost) {
		t.Errorf("got %v, want %v", err, lost)
	}
}

// conditionalMemory is a memory that checks a condition when it has copied its bytes.
type conditionalMemory struct{ memory }

func (m *conditionalMemory) CommitIf(allowed func() error) error {
	m.done = append(m.done, "copy")
	if err := allowed(); err != nil {
		return errors.Join(err, m.Abort())
	}
	return m.Commit()
}

// A file that is copied to its place gets its final name only while the attempt holds its rank after the copy.
func TestLeaseAfterTheCopy(t *testing.T) {
	lost := errors.New("another attempt has the rank")
	for held, want := range map[error][]string{nil: {"copy", "lease", "commit"}, lost: {"copy", "lease", "abort"}} {
		var m conditionalMemory
		f, err := UnderLease(func(string) (File, error) { return &m, nil }, func(context.Context) error {
			m.done = append(m.done, "lease")
			return held
		})("model")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); !errors.Is(err, held) {
			t.Errorf("lease %v: got the error %v", held, err)
		}
		if d := cmp.Diff(want, m.done); d != "" {
			t.Errorf("lease %v, -want +got:\n%s", held, d)
		}
	}
}

// The console delays the log from the header of the table on, and prints nothing in a quiet run.
func TestConsole(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		var out bytes.Buffer
		c := Console{Hold: &Hold{}, Table: &vwtext.Table{Out: &out}}
		if quiet {
			c.Table.Out = nil
		}
		if err := errors.Join(c.OpenTable(), c.Print(nil), c.Print([]byte("a row of the trace, "))); err != nil {
			t.Fatal(err)
		}
		if c.Hold.open == quiet || c.MidLine == quiet {
			t.Errorf("quiet %v: the log is delayed: %v, in the middle of a line: %v", quiet, c.Hold.open, c.MidLine)
		}
		if err := c.Print([]byte("its end\n")); err != nil || c.MidLine {
			t.Errorf("quiet %v: in the middle of a line after its end, error %v", quiet, err)
		}
		if got := out.String(); quiet != (got == "") || !quiet && !strings.HasSuffix(got, "a row of the trace, its end\n") {
			t.Errorf("quiet %v: got %q", quiet, got)
		}
	}
}
