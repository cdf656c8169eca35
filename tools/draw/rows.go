// SPDX-License-Identifier: Apache-2.0

package main

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shapes are the marks of the series of dots: series differ without colour, too.
var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{},
}

// nameRows replaces the numbers of the y axis by the names of the rows, from top to bottom.
func (f figure) nameRows(p *plot.Plot) {
	if f.header["rows"] == "" {
		return
	}
	var ticks []plot.Tick
	for i, name := range strings.Split(f.header["rows"], "|") {
		ticks = append(ticks, plot.Tick{Value: -float64(i), Label: name})
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Min, p.Y.Max = -float64(len(ticks)-1)-0.6, 0.6
}

// downward returns the points with rows from top to bottom.
func downward(points plotter.XYs) plotter.XYs {
	out := make(plotter.XYs, len(points))
	for i, p := range points {
		out[i] = plotter.XY{X: p.X, Y: -p.Y}
	}
	return out
}

// dots draws the points of a series. Those of different series in a row are a little apart.
func (f figure) dots(p *plot.Plot, i int, name string) error {
	points := downward(f.series[name])
	for k := range points {
		points[k].Y -= 0.5 * (float64(i)/float64(max(1, len(f.names)-1)) - 0.5)
	}
	s, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	s.GlyphStyle = draw.GlyphStyle{Color: colours[i%len(colours)], Radius: vg.Points(3.5), Shape: shapes[i%len(shapes)]}
	p.Add(s)
	p.Legend.Add(name, s)
	return nil
}

// bars draws a thin bar from each first to each second point of a series.
func (f figure) bars(p *plot.Plot, i int, name string) error { return f.spansOf(p, i, name, 0.15) }

// marks draws the points of a series in the middle of their rows.
func (f figure) marks(p *plot.Plot, i int, name string) error {
	s, err := plotter.NewScatter(downward(f.series[name]))
	if err != nil {
		return err
	}
	s.GlyphStyle = draw.GlyphStyle{Color: colours[i%len(colours)], Radius: vg.Points(3), Shape: shapes[i%len(shapes)]}
	p.Add(s)
	p.Legend.Add(name, s)
	return nil
}

// spans draws a bar from each first to each second point of a series.
func (f figure) spans(p *plot.Plot, i int, name string) error { return f.spansOf(p, i, name, 0.35) }

// spansOf draws the bars with half of their height, in rows.
func (f figure) spansOf(p *plot.Plot, i int, name string, height float64) error {
	points := downward(f.series[name])
	var rings []plotter.XYer
	for k := 0; k < len(points); k += 2 {
		a, b := points[k], points[k+1]
		rings = append(rings, plotter.XYs{{X: a.X, Y: a.Y - height}, {X: b.X, Y: a.Y - height}, {X: b.X, Y: a.Y + height}, {X: a.X, Y: a.Y + height}})
	}
	all, err := plotter.NewPolygon(rings...)
	if err != nil {
		return err
	}
	all.Color = spanColours[i%len(spanColours)]
	all.LineStyle.Width = 0
	p.Add(all)
	p.Legend.Add(name, all)
	return nil
}

// spanColours are those of bars. They differ by brightness, too, and waiting, the last one, is the lightest.
var spanColours = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff},
	color.RGBA{0x00, 0x00, 0x00, 0xff},
	color.RGBA{0xe6, 0x9f, 0x00, 0xff},
	color.RGBA{0xd8, 0xd8, 0xd8, 0xff},
}
