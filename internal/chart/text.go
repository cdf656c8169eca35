// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"strings"
)

// glyphs mark the series in text.
const glyphs = "*o+x#@"

// AppendText appends the picture in plain characters, cols wide and rows high without the axes and names.
func (l *Lines) AppendText(dst []byte, cols, rows int) []byte {
	cols, rows = max(cols, 8), max(rows, 2)
	xs, ys := l.values()
	if len(xs) == 0 {
		return append(dst, "no values\n"...)
	}
	ax := newAxis(xs, l.LogX, 0, float64(cols-1))
	ax.whole = l.Whole
	ay := newAxis(ys, l.LogY, float64(rows-1), 0)
	cells := make([][]byte, rows)
	for i := range cells {
		cells[i] = []byte(strings.Repeat(" ", cols))
	}
	for i, s := range l.Series {
		x, y := l.points(s)
		for j := range x {
			if j > 0 && !s.Points {
				join(cells, ax.at(x[j-1]), ay.at(y[j-1]), ax.at(x[j]), ay.at(y[j]))
			}
		}
		for j := range x {
			cells[cell(ay.at(y[j]))][cell(ax.at(x[j]))] = glyphs[i%len(glyphs)]
		}
	}
	labels := make(map[int]string)
	wide := 0
	for _, v := range ay.ticks(max(2, rows/4)) {
		row := min(max(cell(ay.at(v)), 0), rows-1)
		labels[row] = Number(v)
		wide = max(wide, len(labels[row]))
	}
	if l.Y != "" {
		dst = fmt.Appendf(dst, "%s\n", l.Y)
	}
	for i, row := range cells {
		dst = fmt.Appendf(dst, "%*s |%s\n", wide, labels[i], strings.TrimRight(string(row), " "))
	}
	dst = fmt.Appendf(dst, "%*s +%s\n", wide, "", strings.Repeat("-", cols))
	marks := []rune(strings.Repeat(" ", wide+2+cols+12))
	for _, t := range l.ticks(ax, max(2, cols/14), 1) {
		at := wide + 2 + cell(ax.at(t.at))
		copy(marks[at:], []rune(t.name))
	}
	dst = append(dst, strings.TrimRight(string(marks), " ")...)
	dst = fmt.Appendf(dst, "  %s\n", l.X)
	for i, s := range l.Series {
		dst = fmt.Appendf(dst, "%c %s\n", glyphs[i%len(glyphs)], s.Name)
	}
	return dst
}

// AppendText appends a row of characters for each bar, cols wide for the longest. Parts are not told apart.
func (b *Bars) AppendText(dst []byte, cols int) []byte {
	var most float64
	wide := 0
	for _, r := range b.Rows {
		most = max(most, abs(total(r)))
		wide = max(wide, len([]rune(r.Name)))
	}
	for _, r := range b.Rows {
		sum, n := total(r), 0
		if most > 0 {
			n = cell(abs(sum) / most * float64(cols))
		}
		glyph := "#"
		if sum < 0 {
			glyph = "-"
		}
		dst = fmt.Appendf(dst, "%-*s %s %s\n", wide, r.Name, strings.Repeat(glyph, n), Number(sum))
	}
	return dst
}

// total returns the sum of a row.
func total(r Row) (sum float64) {
	for _, v := range r.Values {
		sum += v
	}
	return sum
}

func abs(x float64) float64 { return max(x, -x) }

// join draws a line of dots, at most one a column.
func join(cells [][]byte, x1, y1, x2, y2 float64) {
	for c := cell(x1); c <= cell(x2); c++ {
		y := y1
		if x2 > x1 {
			t := min(max((float64(c)-x1)/(x2-x1), 0), 1)
			y = y1 + t*(y2-y1)
		}
		if p := &cells[cell(y)][c]; *p == ' ' {
			*p = '.'
		}
	}
}

// cell rounds a position.
func cell(v float64) int { return int(v + 0.5) }
