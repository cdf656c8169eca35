// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares text with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s: -want +got:\n%s", name, d)
	}
}

func lines() *Lines {
	return &Lines{
		Title: "Loss", X: "pass", Y: "loss",
		Series: []Series{
			{"train <b>", []float64{1, 2, 3, 4}, []float64{0.5, 0.25, 0.2, math.NaN()}},
			{"held out", []float64{1, 2, 3, 4}, []float64{0.6, 0.4, 0.45, 0.5}},
		},
		Marks: []Mark{{2.5, "rank 1 was lost"}},
	}
}

func TestPictures(t *testing.T) {
	t.Parallel()
	golden(t, "lines.svg", lines().AppendSVG(nil, File))
	golden(t, "lines.txt", lines().AppendText(nil, 40, 10))
	log := lines()
	log.LogY, log.LogX, log.Marks = true, true, nil
	golden(t, "loglines.svg", log.AppendSVG(nil, Inline))
	bars := &Bars{Title: "Weights", Unit: "weight", Rows: []Row{{"free", []float64{1.5}}, {"a name that is too long to be shown in one row of bars", []float64{-0.5}}}}
	golden(t, "bars.svg", bars.AppendSVG(nil, Inline))
	golden(t, "bars.txt", bars.AppendText(nil, 30))
	lanes := &Lanes{
		Title: "Time", X: "s", Parts: []string{"computes", "waits"},
		Lanes: []Lane{{"rank 0", []Span{{0, 2, 0, ""}, {2, 2.001, 1, "waits for rank 1"}}}, {"rank 1", []Span{{0.5, 2, 0, ""}}}},
		Marks: []Mark{{1, "rank 1 was lost"}},
	}
	golden(t, "lanes.svg", lanes.AppendSVG(nil, Inline))
}

// wellFormed reports a fault of the XML, and a picture without a role or a name.
func wellFormed(svg []byte) error {
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	root := true
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attrs := map[string]string{}
		for _, a := range e.Attr {
			attrs[a.Name.Local] = a.Value
			if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") && a.Name.Local != "aria-label" {
				return fmt.Errorf("%s of %s is %q", a.Name.Local, e.Name.Local, a.Value)
			}
		}
		if root && (attrs["role"] != "img" || attrs["aria-label"] == "") {
			return fmt.Errorf("role %q and label %q, want img and a text", attrs["role"], attrs["aria-label"])
		}
		root = false
	}
}

// Any values give well-formed pictures with finite coordinates, and text that fits.
func TestAnyValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~é]{0,20}`)
		value := rapid.Float64Range(-1e30, 1e30)
		xs := rapid.SliceOfN(value, 0, 60).Draw(t, "x")
		ys := rapid.SliceOfN(rapid.OneOf(value, rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), 0, 1e-300})), len(xs), len(xs)).Draw(t, "y")
		l := &Lines{
			Title: text.Draw(t, "title"), X: "x", Y: text.Draw(t, "unit"), LogX: rapid.Bool().Draw(t, "log x"), LogY: rapid.Bool().Draw(t, "log y"),
			Series: []Series{{text.Draw(t, "name"), xs, ys}},
		}
		if err := wellFormed(l.AppendSVG(nil, File)); err != nil {
			t.Fatal(err)
		}
		for _, row := range strings.Split(string(l.AppendText(nil, 50, 8)), "\n") {
			if n := len(row); n > 120 {
				t.Fatalf("got a row of %d characters: %q", n, row)
			}
		}
		b := &Bars{Unit: "s", Parts: []string{"a", "b"}, Rows: []Row{{text.Draw(t, "row"), []float64{value.Draw(t, "a"), value.Draw(t, "b")}}}}
		if err := wellFormed(b.AppendSVG(nil, Inline)); err != nil {
			t.Fatal(err)
		}
	})
}

// A lane with very many spans is drawn by its largest parts.
func TestManySpans(t *testing.T) {
	t.Parallel()
	l := &Lanes{X: "s", Parts: []string{"computes", "waits"}, Lanes: []Lane{{Name: "rank 0"}}}
	for i := range 100_000 {
		at := float64(i)
		l.Lanes[0].Spans = append(l.Lanes[0].Spans, Span{at, at + 0.9, 0, ""}, Span{at + 0.9, at + 1, 1, ""})
	}
	svg := l.AppendSVG(nil, Inline)
	if err := wellFormed(svg); err != nil || len(svg) > 200_000 {
		t.Errorf("%v, %d bytes", err, len(svg))
	}
	if got := strings.Count(string(svg), "rank 0, waits"); got != 0 {
		t.Errorf("got %d spans of the small part, want 0", got)
	}
	if !strings.Contains(string(svg), "rank 0, computes") {
		t.Error("the large part is not drawn")
	}
}

func TestTicks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a    axis
		want []float64
	}{
		{newAxis([]float64{-0.0001, 0.9}, false, 0, 1), []float64{0, 0.2, 0.4, 0.6, 0.8}},
		{newAxis([]float64{1, 1000}, true, 0, 1), []float64{1, 10, 100, 1000}},
		{newAxis([]float64{2, 8}, true, 0, 1), []float64{2, 4, 6, 8}},
		{newAxis(nil, false, 0, 1), []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
	} {
		got := c.a.ticks(5)
		if d := cmp.Diff(c.want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })); d != "" {
			t.Errorf("%+v: -want +got:\n%s", c.a, d)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", 0.12345: "0.1235", 1234: "1234", 12345: "12.35k", 5e6: "5M", -2.5e9: "-2.5G", math.NaN(): "–"} {
		if got := Number(v); got != want {
			t.Errorf("Number(%g) is %q, want %q", v, got, want)
		}
	}
}
