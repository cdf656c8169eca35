// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"image/png"
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

// goldenPNG compares a picture with a file in testdata. Processors round differently, so a few pixels may differ a little.
func goldenPNG(t *testing.T, name string, draw func(dst []byte) ([]byte, error)) {
	t.Helper()
	got, err := draw(nil)
	if err != nil {
		t.Fatal(err)
	}
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
	a, err := png.Decode(bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	b, err := png.Decode(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	if a.Bounds() != b.Bounds() {
		t.Fatalf("%s: got %v, want %v", name, b.Bounds(), a.Bounds())
	}
	size, others := a.Bounds().Size(), 0
	for y := range size.Y {
		for x := range size.X {
			r0, g0, b0, _ := a.At(x, y).RGBA()
			r1, g1, b1, _ := b.At(x, y).RGBA()
			if far(r0, r1) || far(g0, g1) || far(b0, b1) {
				others++
			}
		}
	}
	if others > size.X*size.Y/1000 {
		t.Errorf("%s: got %d other pixels of %d", name, others, size.X*size.Y)
	}
}

// far reports whether two intensities of 16 bits differ to the eye.
func far(a, b uint32) bool { return max(a, b)-min(a, b) > 0x1000 }

func lines() *Lines {
	return &Lines{
		Title: "Loss", X: "pass", Y: "loss",
		Series: []Series{
			{Name: "train <b>", X: []float64{1, 2, 3, 4}, Y: []float64{0.5, 0.25, 0.2, math.NaN()}},
			{Name: "held out", X: []float64{1, 2, 3, 4}, Y: []float64{0.6, 0.4, 0.45, 0.5}},
		},
		Marks: []Mark{{2.5, "rank 1 was lost"}},
	}
}

func TestPictures(t *testing.T) {
	t.Parallel()
	golden(t, "lines.svg", lines().AppendSVG(nil, File))
	golden(t, "lines.txt", lines().AppendText(nil, 40, 10))
	goldenPNG(t, "lines.png", lines().AppendPNG)
	named := &Lines{
		X: "adaptive", Y: "loss", Names: []string{"off", "a value with a name that is long"},
		Series: []Series{{Name: "3 passes", Points: true, X: []float64{0, 1, 0}, Y: []float64{1, 2, 3}}, {Name: "9 passes", Points: true, X: []float64{1}, Y: []float64{0.5}}},
	}
	golden(t, "named.svg", named.AppendSVG(nil, Inline))
	golden(t, "named.txt", named.AppendText(nil, 40, 10))
	log := lines()
	log.LogY, log.LogX, log.Marks = true, true, nil
	golden(t, "loglines.svg", log.AppendSVG(nil, Inline))
	bars := &Bars{Title: "Weights", Unit: "weight", Rows: []Row{{"free", []float64{1.5}}, {"a name that is too long to be shown in one row of bars", []float64{-0.5}}}}
	golden(t, "bars.svg", bars.AppendSVG(nil, Inline))
	golden(t, "bars.txt", bars.AppendText(nil, 30))
	parts := &Bars{Title: "Time", Unit: "s", Parts: []string{"a", "b", "c", "d", "e", "f"}, Rows: []Row{{"rank 0 → 1", []float64{1, 1, 1, 1, 1, 1}}, {"rank 1", []float64{-1, 2, -1, 1}}}}
	goldenPNG(t, "bars.png", parts.AppendPNG)
	lanes := &Lanes{
		Title: "Time", X: "s", Parts: []string{"computes", "waits"},
		Lanes: []Lane{{"rank 0", []Span{{0, 2, 0, ""}, {2, 2.001, 1, "waits for rank 1"}}}, {"rank 1", []Span{{0.5, 2, 0, ""}}}},
		Marks: []Mark{{1, "rank 1 was lost"}},
	}
	tree := &Graph{About: "Bytes.", Parts: []string{"TCP", "shared memory"}, Nodes: []string{"0", "1", "2", "3", "4"}}
	for i, pair := range [][2]int{{3, 1}, {1, 0}, {2, 1}, {3, 4}} {
		tree.Links = append(tree.Links, Link{A: pair[0], B: pair[1], Value: float64(i), Part: i % 2, Label: fmt.Sprint(i), Tip: "<tip>"})
	}
	golden(t, "tree.svg", tree.AppendSVG(nil, File))
	tree.Links = append(tree.Links, Link{A: 4, B: 0, Value: 2}, Link{A: 0, B: 4, Value: 1, Part: 1})
	golden(t, "graph.svg", tree.AppendSVG(nil, File))
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

// Any graph gives a well-formed picture with finite coordinates, and is drawn as a tree only if it is one.
func TestAnyGraph(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 80).Draw(t, "nodes")
		g := &Graph{Parts: []string{"a", "b"}}
		parents := 0
		for i := range n {
			g.Nodes = append(g.Nodes, fmt.Sprint(i))
			if i > 0 && rapid.Bool().Draw(t, "linked") {
				parents++
				g.Links = append(g.Links, Link{A: rapid.IntRange(0, i-1).Draw(t, "parent"), B: i, Value: rapid.Float64Range(0, 1e30).Draw(t, "value"), Part: i % 2})
			}
		}
		if err := wellFormed(g.AppendSVG(nil, Inline)); err != nil {
			t.Fatal(err)
		}
		depth, deepest, tree := g.levels()
		if want := n > 0 && parents == n-1; tree != want {
			t.Fatalf("a tree: %v, want %v", tree, want)
		}
		for _, l := range g.Links {
			if d := depth; tree && d[l.A]-d[l.B] != 1 && d[l.B]-d[l.A] != 1 || tree && max(d[l.A], d[l.B]) > deepest {
				t.Fatalf("link %+v between levels %v, deepest %d", l, d, deepest)
			}
		}
	})
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
			Series: []Series{{Name: text.Draw(t, "name"), X: xs, Y: ys, Points: rapid.Bool().Draw(t, "points")}},
		}
		if err := wellFormed(l.AppendSVG(nil, File)); err != nil {
			t.Fatal(err)
		}
		for _, row := range strings.Split(string(l.AppendText(nil, 50, 8)), "\n") {
			if n := len(row); n > 120 {
				t.Fatalf("got a row of %d characters: %q", n, row)
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "png") > 0 { // it takes longer than all else
		} else if _, err := l.AppendPNG(nil); err != nil {
			t.Fatal(err)
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
