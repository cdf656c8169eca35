// SPDX-License-Identifier: Apache-2.0

package splines

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fitted returns splines of the lines of a text.
func fitted(t testing.TB, knots int, text string) *Basis {
	t.Helper()
	var f Fit
	for line := range strings.Lines(text) {
		if err := f.Add([]byte(strings.TrimSuffix(line, "\n"))); err != nil {
			t.Fatal(err)
		}
	}
	b, err := f.Basis(knots)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ramp has the values 0 to 100 of feature x, and y in every second line.
func ramp() string {
	var b strings.Builder
	for i := range 101 {
		fmt.Fprintf(&b, "1 |a x:%d", i)
		if i%2 == 0 {
			b.WriteString(" |b y:5")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestLines(t *testing.T) {
	b := fitted(t, 3, ramp())
	for _, c := range []struct{ line, want string }{
		{"1 |a x:25 |b y:5", "1 |a x_0:0.5 x_1:0.5 |b y_1:0.5 y_2:0.5"},
		{"-1 2 tag|a x:50", "-1 2 tag|a x_1:1 |b y_0:0.51 y_1:0.49"}, // y is absent, and 0
		{"1 |b y:9 z |a x:-3 |c w", "1 |a x_0:1 |b y_2:1"},           // outliers, and unknown features
		{"1 |a x:60 x:15", "1 |a x_1:0.5 x_2:0.5 |b y_0:0.51 y_1:0.49"},
		{"1", "1 |a x_0:1 |b y_0:0.51 y_1:0.49"},
		{"", ""},
	} {
		got, err := b.Append(nil, []byte(c.line))
		if err != nil || string(got) != c.want {
			t.Errorf("%q: got %q, error %v, want %q", c.line, got, err, c.want)
		}
	}
	for _, line := range []string{"1 |a x:y", "1 |a x:nan", "1 |a x:1e99", "1 |a:2 x:1"} {
		if _, err := b.Append(nil, []byte(line)); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
}

// The knots of a feature add up to 1, and its spline is as monotone as its place.
func TestKnotsAddUpToOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.Float32Range(-50, 50), 1, 60).Draw(rt, "values")
		var text strings.Builder
		for _, v := range values {
			fmt.Fprintf(&text, "1 | x:%v\n", v)
		}
		b := fitted(t, rapid.IntRange(2, 9).Draw(rt, "knots"), text.String())
		last := -1.0
		for x := float32(-60); x <= 60; x += 7.5 {
			line, err := b.Append(nil, fmt.Appendf(nil, "1 | x:%v", x))
			if err != nil {
				rt.Fatal(err)
			}
			sum, at := 0.0, 0.0
			_, err = split(line, func(_, name []byte, v float32) error {
				knot := 0
				if _, err := fmt.Sscanf(string(name), "x_%d", &knot); err != nil {
					return err
				}
				sum += float64(v)
				at += float64(knot) * float64(v)
				return nil
			})
			if err != nil || math.Abs(sum-1) > 1e-4 || at < last-1e-3 {
				rt.Fatalf("x = %v: %s: sum %v, place %v after %v, error %v", x, line, sum, at, last, err)
			}
			last = at
		}
	})
}

// A basis that was written and read gives the same lines, and damaged files are errors.
func TestBasisIsKept(t *testing.T) {
	b := fitted(t, 4, ramp())
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for x := range 120 {
		line := fmt.Appendf(nil, "1 |a x:%d.3 |b y:%d", x, x%7)
		want, _ := b.Append(nil, line)
		if got, err := again.Append(nil, line); err != nil || string(got) != string(want) {
			t.Fatalf("%s: got %s, error %v, want %s", line, got, err, want)
		}
	}
	for _, damaged := range []string{
		"", "{}", `{"knots":1}`, `{"knots":3,"features":[{"namespace":"a","name":"x","levels":[1]}]}`,
		strings.Replace(string(text), "0,1,2", "1,0,2", 1), strings.Replace(string(text), `"knots"`, `"nots"`, 1),
	} {
		if _, err := Parse([]byte(damaged)); err == nil {
			t.Errorf("%.60s is accepted", damaged)
		}
	}
}

func TestDataIsDense(t *testing.T) {
	var f Fit
	if _, err := f.Basis(3); err == nil {
		t.Error("no data: no error")
	}
	var line strings.Builder
	line.WriteString("1 |")
	for i := range maxFeatures + 1 {
		fmt.Fprintf(&line, " x%d", i)
	}
	if err := f.Add([]byte(line.String())); err == nil || !strings.Contains(err.Error(), "dense") {
		t.Errorf("%d features: got error %v", maxFeatures+1, err)
	}
}

// Neither reading a sample nor writing lines allocates per feature.
func TestLinesAllocateNothing(t *testing.T) {
	b := fitted(t, 3, ramp())
	line, dst := []byte("1 |a x:25 |b y:5"), make([]byte, 0, 200)
	if n := testing.AllocsPerRun(100, func() { dst, _ = b.Append(dst[:0], line) }); n > 4 {
		t.Errorf("a line costs %v allocations, want 4 at most", n)
	}
}

func FuzzAppend(f *testing.F) {
	b := fitted(f, 3, ramp())
	f.Add("1 |a x:25 |b y:5")
	f.Add("|a x:1e30|||b")
	f.Fuzz(func(t *testing.T, line string) {
		if out, err := b.Append(nil, []byte(line)); err == nil && strings.Contains(string(out), "NaN") {
			t.Errorf("%q becomes %q", line, out)
		}
	})
}
