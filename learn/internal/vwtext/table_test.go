// SPDX-License-Identifier: Apache-2.0

package vwtext

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
)

// The rows are what vw 9.11.9 prints for the lines "| a", "| b", "2 | a",
// "-300000 | b", "1e9 | c" with -P 1: no label, numbers cut at the width of
// their column.
func TestTableMatchesVW(t *testing.T) {
	const want = tableHead +
		"n.a.     n.a.                1            1.0        unknown         0.0000        2\n" +
		"n.a.     n.a.                2            2.0        unknown         0.0000        2\n" +
		"4.000000 4.000000            3            3.0         2.0000         0.0000        2\n" +
		"45000093 90000187            4            4.0   -300000.0000         0.2978        2\n" +
		"33333335 99999998            5            5.0 1000000000....        -0.0598        2\n"
	var out bytes.Buffer
	table, err := NewTable(&out, "1")
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Head(); err != nil {
		t.Fatal(err)
	}
	s := NewStats()
	for _, row := range []struct{ label, prediction, loss float32 }{
		{feature.NoLabel, 0, 0},
		{feature.NoLabel, 0, 0},
		{2, 0, 4},
		{-300000, 0.297812, 90000187392},
		{1e9, -0.059817, 999999984306749440},
	} {
		ex := feature.Example{Label: row.label, Weight: 1}
		s.Add(&ex, false, row.loss, 2)
		if err := table.Row(&s, false, row.label, row.prediction, 2); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// From the second pass on the losses are those of the held-out examples.
func TestTableShowsHoldout(t *testing.T) {
	var out bytes.Buffer
	table, err := NewTable(&out, "1")
	if err != nil {
		t.Fatal(err)
	}
	s := NewStats()
	held := feature.Example{Label: -300000, Weight: 1}
	s.Add(&held, true, 4.008157, 2)
	ex := feature.Example{Label: 2, Weight: 1}
	for range 2 {
		s.Add(&ex, false, 1, 2)
		if err := table.Row(&s, true, ex.Label, 0, 2); err != nil {
			t.Fatal(err)
		}
	}
	const want = "4.008157 4.008157            1            1.0         2.0000         0.0000        2 h\n" +
		"4.008157 unknown             2            2.0         2.0000         0.0000        2 h\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// A step with a point multiplies, one without is added; -P 30 shows rows 30, 60,
// 90 and -P 3.0 rows 1, 3, 9, 27.
func TestProgress(t *testing.T) {
	for _, c := range []struct {
		progress string
		want     []uint64
	}{
		{"30", []uint64{30, 60, 90}},
		{"3.0", []uint64{1, 3, 9, 27, 81}},
		{"", []uint64{1, 2, 4, 8, 16, 32, 64}},
		{"1.0", []uint64{1, 2, 4, 8, 16, 32, 64}},
		{"0.5", []uint64{1, 2, 3, 5, 8, 12, 18, 27, 41, 62, 93}},
	} {
		var out bytes.Buffer
		table, err := NewTable(&out, c.progress)
		if err != nil {
			t.Fatal(err)
		}
		s := NewStats()
		ex := feature.Example{Label: 1, Weight: 1}
		var got []uint64
		for range 100 {
			s.Add(&ex, false, 1, 1)
			out.Reset()
			if err := table.Row(&s, false, 1, 0, 1); err != nil {
				t.Fatal(err)
			}
			if out.Len() > 0 {
				got = append(got, s.Examples)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("-P %q: rows (-want +got):\n%s", c.progress, diff)
		}
	}
	for _, bad := range []string{"x", "nan"} {
		if _, err := NewTable(nil, bad); err == nil || !strings.Contains(err.Error(), "is not a number") {
			t.Errorf("-P %q: got %v, want an error that says so", bad, err)
		}
	}
}

func TestRowDoesNotAllocate(t *testing.T) {
	var out bytes.Buffer
	table, err := NewTable(&out, "")
	if err != nil {
		t.Fatal(err)
	}
	table.Next = 1e18
	s := NewStats()
	ex := feature.Example{Label: 1, Weight: 1}
	if n := testing.AllocsPerRun(100, func() {
		s.Add(&ex, false, 1, 1)
		if err := table.Row(&s, false, 1, 0, 1); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("got %v allocations per example, want 0", n)
	}
}

// The rows are what vw 9.11.9 prints for the lines "1000 | a", "3162.2 | a" and "12345678901 | a" with -t -P 1, of which it makes 12345679872: a mean of seven
// digits keeps its point, and three points follow what is cut.
func TestWideNumbers(t *testing.T) {
	const want = "1000000. 1000000.            1            1.0      1000.0000         0.0000        2\n" +
		"5499754. 9999509.            2            2.0      3162.2000         0.0000        2\n" +
		"50805271 15241581            3            3.0 12345679872...         0.0000        2\n"
	var out bytes.Buffer
	table, err := NewTable(&out, "1")
	if err != nil {
		t.Fatal(err)
	}
	s := NewStats()
	for _, label := range []float32{1000, 3162.2, 12345679872} {
		ex := feature.Example{Label: label, Weight: 1}
		s.Add(&ex, false, label*label, 2)
		if err := table.Row(&s, false, label, 0, 2); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
