// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"slices"
	"strings"
)

// Row is a row of bars: a value for each part.
type Row struct {
	Name   string
	Values []float64
}

// Bars is a picture of a bar per row. Its parts follow each other.
type Bars struct {
	Title, Unit string
	Parts       []string // names of the values; one part has no legend
	Rows        []Row
}

// Span is a part of a lane.
type Span struct {
	From, To float64
	Part     int    // index of Lanes.Parts
	Name     string // tooltip; empty: that of the part
}

// Lane is a row over time.
type Lane struct {
	Name  string
	Spans []Span // later ones are drawn over earlier ones
}

// Lanes is a Gantt chart.
type Lanes struct {
	Title, X string
	Parts    []string
	Lanes    []Lane
	Marks    []Mark
}

const (
	rowHeight = 24.0
	barHeight = 16.0
	// nameLetter is the width of a letter in the name of a row. Names of features have many wide ones, such as ^ and m.
	nameLetter = 8.0
)

// AppendSVG appends the picture.
func (b *Bars) AppendSVG(dst []byte, mode Mode) []byte { return svgOf(dst, mode, b.draw) }

// AppendPNG appends the picture as PNG.
func (b *Bars) AppendPNG(dst []byte) ([]byte, error) { return pngOf(dst, b.draw) }

// draw draws the picture.
func (b *Bars) draw(open opener) {
	var most float64
	about := ""
	names := make([]string, len(b.Rows))
	for i, r := range b.Rows {
		var sum, back float64
		for _, v := range r.Values {
			sum, back = sum+max(v, 0), back+min(v, 0)
		}
		most = max(most, sum, -back)
		names[i] = r.Name
		if i < 20 {
			about += fmt.Sprintf("%s: %s %s. ", r.Name, Number(sum+back), b.Unit)
		}
	}
	f := newFrame(open, b.Title, about, b.Parts, names)
	values := []float64{0, most}
	if b.negative() {
		values[0] = -most
	}
	f.axis = newAxis(values, false, f.left, width-right-52)
	f.ground(b.Unit)
	for i, r := range b.Rows {
		y := f.y(i)
		for part, plus, minus, sum := 0, 0.0, 0.0, 0.0; part < len(r.Values); part++ {
			v := r.Values[part]
			from, to := plus, plus+v
			if v < 0 {
				from, to = minus+v, minus
				minus = from
			} else {
				plus = to
			}
			sum += v
			tip := r.Name + ": " + Number(v) + " " + b.Unit
			if len(b.Parts) > part {
				tip = r.Name + ", " + b.Parts[part] + ": " + Number(v) + " " + b.Unit
			}
			if from < to {
				f.box(f.axis.at(from), y, f.axis.at(to)-f.axis.at(from), barHeight, fmt.Sprintf("f%d", part%colours), tip)
			}
			if part == len(r.Values)-1 {
				f.text(f.axis.at(max(plus, 0))+6, y+13, "start", "soft", Number(sum))
			}
		}
	}
}

// negative reports whether a value is below 0.
func (b *Bars) negative() bool {
	return slices.ContainsFunc(b.Rows, func(r Row) bool {
		return slices.ContainsFunc(r.Values, func(v float64) bool { return v < 0 })
	})
}

// AppendSVG appends the picture.
func (l *Lanes) AppendSVG(dst []byte, mode Mode) []byte { return svgOf(dst, mode, l.draw) }

// draw draws the picture.
func (l *Lanes) draw(open opener) {
	names, values := make([]string, len(l.Lanes)), []float64{}
	sums := make([]float64, len(l.Parts))
	for i, lane := range l.Lanes {
		names[i] = lane.Name
		for _, s := range lane.Spans {
			values = append(values, s.From, s.To)
			sums[s.Part] += s.To - s.From
		}
	}
	var about strings.Builder
	fmt.Fprintf(&about, "%d lanes over time in %s.", len(l.Lanes), l.X)
	for i, p := range l.Parts {
		fmt.Fprintf(&about, " %s: %s in all.", p, Number(sums[i]))
	}
	f := newFrame(open, l.Title, about.String(), l.Parts, names)
	f.axis = newAxis(values, false, f.left, width-right)
	f.ground(l.X)
	for i, lane := range l.Lanes {
		for _, s := range lane.visible(f.axis) {
			tip := s.Name
			if tip == "" {
				tip = l.Parts[s.Part]
			}
			x, to := f.axis.at(s.From), f.axis.at(s.To)
			class := "f" // hatched
			if to-x < 3 {
				class = "m" // a hatch would not be seen, and its border would be wider than the span
			}
			f.box(x, f.y(i), max(to-x, 0.2), barHeight, fmt.Sprintf("%s%d", class, s.Part%colours), fmt.Sprintf("%s, %s: %s %s", lane.Name, tip, Number(s.To-s.From), l.X))
		}
	}
	for _, m := range l.Marks {
		x := f.axis.at(m.X)
		if x < f.left || x > width-right {
			continue
		}
		f.segment(x, f.top, x, f.bottom, "mark", m.Name)
	}
}

// maxSpans is the number of spans of a lane above which those within half a pixel are drawn as one.
const maxSpans = 1500

// visible returns the spans to draw: all, or one for each half of a pixel, of the part that has most of its time.
func (l *Lane) visible(a axis) []Span {
	if len(l.Spans) <= maxSpans {
		return l.Spans
	}
	const cells = 2 * int(width)
	parts := 0
	for _, s := range l.Spans {
		parts = max(parts, s.Part+1)
	}
	shares := make([]float64, cells*parts)
	size := (a.hi - a.lo) / float64(cells)
	for _, s := range l.Spans {
		first, last := int((s.From-a.lo)/size), int((s.To-a.lo)/size)
		for c := max(first, 0); c <= min(last, cells-1); c++ {
			lo := a.lo + float64(c)*size
			shares[c*parts+s.Part] += min(s.To, lo+size) - max(s.From, lo)
		}
	}
	var out []Span
	for c := range cells {
		own := shares[c*parts : (c+1)*parts]
		part := 0
		idle := size
		for i, share := range own {
			idle -= share
			if share > own[part] {
				part = i
			}
		}
		if own[part] <= 0 || idle > own[part] {
			continue
		}
		lo := a.lo + float64(c)*size
		if n := len(out); n > 0 && out[n-1].Part == part && out[n-1].To >= lo-size/2 {
			out[n-1].To = lo + size
			continue
		}
		out = append(out, Span{From: lo, To: lo + size, Part: part})
	}
	return out
}

// frame is a picture with a row per name.
type frame struct {
	canvas
	left, top, bottom float64
	names             []string
	axis              axis
}

// newFrame begins a picture, and draws its title and legend.
func newFrame(open opener, title, about string, parts, names []string) *frame {
	f := &frame{left: 40, top: 12, names: names}
	for _, n := range names {
		f.left = max(f.left, min(16+nameLetter*float64(len([]rune(n))), 228))
	}
	var rows [][]entry
	if len(parts) > 1 {
		rows = legend(parts)
	}
	if title != "" {
		f.top += 20
	}
	legendTop := f.top
	f.top += legendRow * float64(len(rows))
	f.bottom = f.top + rowHeight*float64(len(names)) + 6
	f.canvas = open(width, f.bottom+42, title, about)
	if title != "" {
		f.text(12, 20, "start", "title", title)
	}
	for i, row := range rows {
		for _, e := range row {
			x, y := e.x-left+12, legendTop+legendRow*float64(i)
			f.box(x, y, 24, 12, fmt.Sprintf("f%d", e.n%colours), "")
			f.text(x+30, y+11, "start", "", e.name)
		}
	}
	return f
}

// y returns the upper edge of the bar of a row.
func (f *frame) y(row int) float64 { return f.top + 6 + rowHeight*float64(row) }

// ground draws the names of the rows and the axis.
func (f *frame) ground(unit string) {
	for _, v := range f.axis.ticks(6) {
		x := f.axis.at(v)
		f.segment(x, f.top, x, f.bottom, "grid", "")
		f.text(x, f.bottom+16, "middle", "soft", Number(v))
	}
	f.text((f.left+width-right)/2, f.bottom+34, "middle", "", unit)
	for i, n := range f.names {
		f.text(f.left-8, f.y(i)+13, "end", "", clip(n, int((f.left-12)/nameLetter)))
	}
}

// clip shortens text to n runes.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:max(n-1, 0)]) + "…"
	}
	return s
}
