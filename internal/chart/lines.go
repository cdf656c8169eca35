// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"slices"
	"strings"
)

// Series are points that a line joins.
type Series struct {
	Name   string
	X, Y   []float64 // of the same length
	Points bool      // no line joins them
}

// Mark is a vertical line at an event.
type Mark struct {
	X    float64
	Name string
}

// Lines is a picture of series over one axis.
type Lines struct {
	Title, X, Y string // Title may be empty in a page that has a heading
	Series      []Series
	Marks       []Mark
	LogX, LogY  bool
	Whole       bool // values of X are integers
	ZeroX       bool // the axis of X begins at 0, or below
	Zero        bool // the axis of Y begins at 0, or below
	Diagonal    bool // draw the line from 0, 0 to 1, 1, and show all of that square

	Names []string // of the values 0, 1, … of X, which are no numbers; none: they are numbers
}

// maxMarkers is the number of points of a series above which they have no markers.
const maxMarkers = 40

const (
	width, height     = 680.0, 320.0
	left, right       = 66.0, 16.0
	bottom, legendRow = 46.0, 20.0
)

// points returns the finite points of a series that an axis can show.
func (l *Lines) points(s Series) (x, y []float64) {
	for i := range min(len(s.X), len(s.Y)) {
		if finite(s.X[i]) && finite(s.Y[i]) && (!l.LogX || s.X[i] >= least) && (!l.LogY || s.Y[i] >= least) {
			x, y = append(x, s.X[i]), append(y, s.Y[i])
		}
	}
	return x, y
}

// values returns the values of all points, for the axes.
func (l *Lines) values() (xs, ys []float64) {
	for _, s := range l.Series {
		x, y := l.points(s)
		xs, ys = append(xs, x...), append(ys, y...)
	}
	if l.ZeroX {
		xs = append(xs, 0)
	}
	if l.Zero {
		ys = append(ys, 0)
	}
	if n := len(l.Names); n > 0 {
		xs = append(xs, -0.5, float64(n)-0.5)
	}
	if l.Diagonal {
		xs, ys = append(xs, 0, 1), append(ys, 0, 1)
	}
	return xs, ys
}

// about describes the series in words.
func (l *Lines) about() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s by %s.", l.Y, l.X)
	for _, s := range l.Series {
		x, y := l.points(s)
		if len(x) == 0 {
			fmt.Fprintf(&b, " %s: no values.", s.Name)
			continue
		}
		fmt.Fprintf(&b, " %s: from %s to %s, least %s.", s.Name, Number(y[0]), Number(y[len(y)-1]), Number(slices.Min(y)))
	}
	return b.String()
}

// AppendSVG appends the picture.
func (l *Lines) AppendSVG(dst []byte, mode Mode) []byte { return svgOf(dst, mode, l.draw) }

// AppendPNG appends the picture as PNG.
func (l *Lines) AppendPNG(dst []byte) ([]byte, error) { return pngOf(dst, l.draw) }

// draw draws the picture.
func (l *Lines) draw(open opener) {
	top := 12.0
	if l.Title != "" {
		top += 20
	}
	names := make([]string, len(l.Series))
	for i, s := range l.Series {
		names[i] = s.Name
	}
	rows := legend(names)
	plotTop := top + legendRow*float64(len(rows))
	h := plotTop + height - 32
	p := open(width, h, l.Title, l.about())
	if l.Title != "" {
		p.text(left, 20, "start", "title", l.Title)
	}
	for i, row := range rows {
		for _, e := range row {
			y := top + legendRow*float64(i) + 8
			if !l.Series[e.n].Points {
				p.segment(e.x, y, e.x+26, y, fmt.Sprintf("line k%d", e.n%colours), "")
			}
			p.marker(e.n, e.x+13, y)
			p.text(e.x+32, y+4, "start", "", e.name)
		}
	}
	xs, ys := l.values()
	ax := newAxis(xs, l.LogX, left, width-right)
	ax.whole = l.Whole
	ay := newAxis(ys, l.LogY, h-bottom, plotTop+6)
	for _, v := range ay.ticks(5) {
		y := ay.at(v)
		p.segment(left, y, width-right, y, "grid", "")
		p.text(left-8, y+4, "end", "soft", Number(v))
	}
	for _, t := range l.ticks(ax, 7, 7) {
		x := ax.at(t.at)
		p.segment(x, h-bottom, x, h-bottom+5, "axis", "")
		p.text(x, h-bottom+19, "middle", "soft", t.name)
	}
	p.segment(left, h-bottom, width-right, h-bottom, "axis", "")
	p.text((left+width-right)/2, h-8, "middle", "", l.X)
	p.upright(14, (plotTop+h-bottom)/2, l.Y)
	if l.Diagonal {
		p.segment(ax.at(0), ay.at(0), ax.at(1), ay.at(1), "axis", "")
	}
	for _, m := range l.Marks {
		if x := ax.at(m.X); x >= left && x <= width-right {
			p.segment(x, plotTop, x, h-bottom, "mark", m.Name)
		}
	}
	for i, s := range l.Series {
		x, y := l.points(s)
		if len(x) == 0 {
			continue
		}
		for j := range x {
			x[j], y[j] = ax.at(x[j]), ay.at(y[j])
		}
		if !s.Points {
			p.line(i, x, y, s.Name)
		}
		if s.Points || len(x) <= maxMarkers {
			for j := range x {
				p.marker(i, x[j], y[j])
			}
		}
	}
}

// tick is a labelled value of an axis.
type tick struct {
	at   float64
	name string
}

// ticks returns the ticks of the axis of X, about n of them. A character is so wide in the unit of the axis.
func (l *Lines) ticks(ax axis, n int, character float64) (all []tick) {
	for i, name := range l.Names {
		room := (ax.to - ax.from) / float64(len(l.Names)) / character
		all = append(all, tick{float64(i), clip(name, max(int(room)-1, 2))})
	}
	if len(all) > 0 {
		return all
	}
	for _, v := range ax.ticks(n) {
		all = append(all, tick{v, Number(v)})
	}
	return all
}

// entry is a name in a legend.
type entry struct {
	n    int // of the series
	x    float64
	name string
}

// legend divides names into rows.
func legend(names []string) (rows [][]entry) {
	x := left
	for i, name := range names {
		w := 32 + textWidth(name) + 18
		if len(rows) == 0 || x+w > width {
			rows, x = append(rows, nil), left
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], entry{i, x, name})
		x += w
	}
	return rows
}
