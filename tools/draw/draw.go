// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	width  = 16 * vg.Centimeter
	height = 10 * vg.Centimeter
	margin = 3 * vg.Millimeter / 2
	// lineHeight is that of an entry of the legend.
	lineHeight = 11 * vg.Millimeter / 2
	right      = 5 * vg.Millimeter // half of the last number of the axis, which is centred at its end
)

// colours are those of Okabe and Ito, which colour-blind readers tell apart, from dark to light.
var colours = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff},
	color.RGBA{0xd5, 0x5e, 0x00, 0xff},
	color.RGBA{0x00, 0x9e, 0x73, 0xff},
	color.RGBA{0xcc, 0x79, 0xa7, 0xff},
	color.RGBA{0x56, 0xb4, 0xe9, 0xff},
	color.RGBA{0xe6, 0x9f, 0x00, 0xff},
	color.RGBA{0x00, 0x00, 0x00, 0xff},
}

// family is the font of all text; browsers without it take the next one.
const family = "font-family:Liberation Sans"

// few is the number of points up to which each point has a mark.
const few = 12

// draw writes the figure as SVG. It replaces the file only when all is drawn.
func (f figure) draw(path string) (err error) {
	p, err := f.plot()
	if err != nil {
		return err
	}
	legendHeight := vg.Length(len(f.names)) * lineHeight
	drawing, err := draw.NewFormattedCanvas(width, f.height()+legendHeight, "svg")
	if err != nil {
		return err
	}
	drawWithLegend(p, draw.New(drawing), legendHeight)
	var svg bytes.Buffer
	if _, err := drawing.WriteTo(&svg); err != nil {
		return err
	}
	w, err := os.CreateTemp(filepath.Dir(path), "draw.*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			w.Close()
			os.Remove(w.Name())
		}
	}()
	if _, err := w.WriteString(strings.ReplaceAll(svg.String(), family, family+",Arial,sans-serif")); err != nil {
		return err
	}
	if err := w.Chmod(0o644); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.Rename(w.Name(), path)
}

// height returns the height of the plot, which many rows enlarge.
func (f figure) height() vg.Length {
	const row = 9 * vg.Millimeter / 2
	return max(height, vg.Length(strings.Count(f.header["rows"], "|")+3)*row)
}

// plot returns the figure with axes, lines and legend.
func (f figure) plot() (*plot.Plot, error) {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.header["title"], f.header["x"], f.header["y"]
	if f.header["logx"] != "" {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{}
	}
	if f.header["logy"] != "" {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{}
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xe0}, color.Gray{0xe0}
	p.Add(grid)
	p.Legend.Padding, p.Legend.ThumbnailWidth = vg.Points(3), vg.Centimeter
	f.nameRows(p)
	for i, name := range f.names {
		switch f.header["kind"] {
		case "dots":
			if err := f.dots(p, i, name); err != nil {
				return nil, err
			}
			continue
		case "ranges":
			draw := f.marks
			if i == 0 {
				draw = f.bars
			}
			if err := draw(p, i, name); err != nil {
				return nil, err
			}
			continue
		case "spans":
			if err := f.spans(p, i, name); err != nil {
				return nil, err
			}
			continue
		}
		l, err := plotter.NewLine(f.series[name])
		if err != nil {
			return nil, err
		}
		look := styleOf(i, name)
		l.Color, l.Width = colours[look%len(colours)], vg.Points(1.5)
		l.Dashes = plotDashes(look)
		measured, simulated := strings.HasPrefix(name, "real"), strings.HasPrefix(name, "simulated")
		switch {
		case measured:
			l.Dashes = nil
		case simulated && f.isReal():
			l.Dashes = []vg.Length{vg.Points(6), vg.Points(float64(2 + 2*(look%3)))}
		}
		p.Add(l)
		p.Legend.Add(name, l)
		if measured || len(f.series[name]) <= few && !f.isReal() {
			s, err := plotter.NewScatter(f.series[name])
			if err != nil {
				return nil, err
			}
			s.GlyphStyle = draw.GlyphStyle{Color: l.Color, Radius: vg.Points(2.5), Shape: draw.CircleGlyph{}}
			p.Add(s)
		}
	}
	return p, nil
}

// styles are the colours and dashes of systems that are in several figures.
var styles = map[string]int{"online SGD": 0, "L-BFGS": 4, "hybrid": 5, "GIANT": 6}

// styleOf returns the number of the colour and the dashes of series i.
func styleOf(i int, name string) int {
	if look, ok := styles[name]; ok {
		return look
	}
	return i
}

// isReal reports whether the figure has real beside simulated values. Only the real ones have marks then, and only the
// simulated ones are dashed.
func (f figure) isReal() bool {
	return slices.ContainsFunc(f.names, func(name string) bool { return strings.HasPrefix(name, "real") })
}

// plotDashes returns the dashes of a line: lines differ without colour, too.
func plotDashes(i int) []vg.Length {
	switch i % 3 {
	case 1:
		return []vg.Length{vg.Points(6), vg.Points(2)}
	case 2:
		return []vg.Length{vg.Points(2), vg.Points(2)}
	}
	return nil
}
