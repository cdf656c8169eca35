// SPDX-License-Identifier: Apache-2.0

package main

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// logTicks marks powers of ten, or round numbers where an axis has no two of them.
type logTicks struct{}

// Ticks implements [plot.Ticker].
func (logTicks) Ticks(low, high float64) []plot.Tick {
	if math.Floor(math.Log10(high))-math.Ceil(math.Log10(low)) < 1 {
		return plot.DefaultTicks{}.Ticks(low, high)
	}
	// The label of a tick beyond the axis is not drawn, and yet gets room.
	return slices.DeleteFunc(plot.LogTicks{Prec: -1}.Ticks(low, high), func(t plot.Tick) bool { return t.Value < low || t.Value > high })
}

// drawWithLegend draws the plot, and its legend below it: within a plot a legend hides lines sooner or later, and at its right
// the fonts of a browser have another width than those by which it was placed.
func drawWithLegend(p *plot.Plot, whole draw.Canvas, legendHeight vg.Length) {
	whole.SetColor(color.White)
	whole.Fill(whole.Rectangle.Path())
	legend := p.Legend
	p.Legend = plot.NewLegend()
	area := draw.Crop(whole, margin, -right, margin+legendHeight, -margin)
	// plot puts the label of a logarithmic axis at the mean of its ends, and takes that place for its top.
	label := p.Y.Label.TextStyle
	label.Rotation, label.XAlign, label.YAlign = math.Pi/2, text.XCenter, text.YTop
	area.FillText(label, vg.Point{X: area.Min.X, Y: (area.Min.Y + area.Max.Y) / 2}, p.Y.Label.Text)
	area = draw.Crop(area, label.Height(p.Y.Label.Text)+margin, 0, 0, 0)
	p.Y.Label.Text = ""
	p.Draw(area)
	legend.Top, legend.Left = true, true
	legend.Draw(draw.Crop(whole, vg.Centimeter, -right, margin, legendHeight-(whole.Max.Y-whole.Min.Y)))
}
