// SPDX-License-Identifier: Apache-2.0

package statusline

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"
)

// A row has what fits, and is shorter than the terminal is wide.
func TestRowsFit(t *testing.T) {
	t.Parallel()
	r := Row{Label: "pass 2/4", Share: 0.42, Fields: []string{"ETA 1m10s", "loss 0.3142", "", "350k/s", "1.20M examples"}}
	for width, want := range map[int]string{
		100: "pass 2/4  42% [=============                 ]  ETA 1m10s  loss 0.3142  350k/s  1.20M examples",
		80:  "pass 2/4  42% [======         ]  ETA 1m10s  loss 0.3142  350k/s  1.20M examples",
		60:  "pass 2/4  42% [=====      ]  ETA 1m10s  loss 0.3142  350k/s",
		40:  "pass 2/4  42%  ETA 1m10s  loss 0.3142",
		20:  "pass 2/4  42%",
		6:   "pass ",
		1:   "",
		0:   "",
	} {
		if diff := cmp.Diff(want, r.Fit(width)); diff != "" {
			t.Errorf("%d columns: %s", width, diff)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		r := Row{Label: rapid.String().Draw(t, "label"), Share: rapid.Float64Range(-1, 2).Draw(t, "share"), Fields: rapid.SliceOf(rapid.String()).Draw(t, "fields")}
		width := rapid.IntRange(0, 200).Draw(t, "width")
		if got := r.Fit(width); runewidth.StringWidth(got) > max(width-1, 0) {
			t.Fatalf("%d columns of %d: %q", runewidth.StringWidth(got), width, got)
		}
	})
}

// screen interprets the output for a terminal of some columns, of which only the sequences of this package are known.
func screen(width int, text string) []string {
	rows, y, x := []string{""}, 0, 0
	for len(text) > 0 {
		var n int
		switch {
		case text[0] == '\r':
			x = 0
		case text[0] == '\n':
			y++
			x = 0 // as the terminal driver adds it
		case strings.HasPrefix(text, "\x1b[J"):
			rows[y] = rows[y][:x]
			rows = rows[:y+1]
			text = text[2:]
		case strings.HasPrefix(text, "\x1b["):
			if _, err := fmt.Sscanf(text, "\x1b[%dA", &n); err != nil {
				panic(fmt.Sprintf("%q", text))
			}
			y -= n
			text = text[strings.IndexByte(text, 'A'):]
		default:
			if x == width {
				y, x = y+1, 0
			}
			for len(rows) <= y {
				rows = append(rows, "")
			}
			rows[y] = rows[y][:x] + text[:1]
			x++
		}
		for len(rows) <= y {
			rows = append(rows, "")
		}
		text = text[1:]
	}
	return rows
}

// Text appears above the lines, and nothing of them remains.
func TestTextIsAboveTheLines(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	l := New(&out, func() int { return 20 })
	say := func(text string) {
		if _, err := io.WriteString(l, text); err != nil {
			t.Fatal(err)
		}
	}
	say("one\n")
	l.Show("rank 0  10%", "rank 1  20%")
	say("two\n")
	l.Show("rank 0  30%", "rank 1  40%")
	if diff := cmp.Diff([]string{"one", "two", "rank 0  30%", "rank 1  40%", ""}, screen(20, out.String())); diff != "" {
		t.Error(diff)
	}
	say("half ")
	l.Show("rank 0  50%") // the row above is open
	say("a row\n")
	l.Show("rank 0  60%")
	l.Show("rank 0  7%")
	if diff := cmp.Diff([]string{"one", "two", "half a row", "rank 0  7%", ""}, screen(20, out.String())); diff != "" {
		t.Error(diff)
	}
	out.WriteString("^C") // the terminal echoes it
	l.End()
	l.End()
	l.Show("too late")
	if diff := cmp.Diff([]string{"one", "two", "half a row", ""}, screen(20, out.String())); diff != "" {
		t.Error(diff)
	}
}

// Lines that a terminal has wrapped since are removed in all their rows.
func TestANarrowedTerminal(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	width := 40
	l := New(&out, func() int { return width })
	l.Show(strings.Repeat("a", 30), strings.Repeat("b", 30))
	before := out.Len()
	width = 10
	l.Show("short")
	if got, want := out.String()[before:], "\r\x1b[6A\x1b[Jshort\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	for n, want := range map[float64]string{0: "0", 999: "999", 1000: "1.00k", 9996: "10.0k", 12345: "12.3k", 99960: "100k", 999499: "999k", 999600: "1.00M", 12345678: "12.3M", 3e15: "3.00P", 5e18: "5000P"} {
		if got := Count(n); got != want {
			t.Errorf("%v: %s, want %s", n, got, want)
		}
	}
	if got := Left(10*time.Second, 0.125); got != "ETA 1m10s" {
		t.Error(got)
	}
	if got := Left(time.Second, 0); got != "" {
		t.Error(got)
	}
}
