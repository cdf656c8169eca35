// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"image/color"
	"math"
	"strings"
	"sync"

	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// scale is the number of pixels of a PNG for one of SVG: text stays sharp on dense screens and in print.
const scale = 2

// The colours of Style on light ground.
var (
	paper = color.RGBA{0xff, 0xff, 0xff, 0xff}
	ink   = color.RGBA{0x1b, 0x1f, 0x24, 0xff}
	soft  = color.RGBA{0x57, 0x60, 0x6a, 0xff}
	rule  = color.RGBA{0xd8, 0xde, 0xe4, 0xff}
	hues  = [colours]color.RGBA{
		{0x00, 0x72, 0xb2, 0xff},
		{0xc0, 0x4f, 0x00, 0xff},
		{0x00, 0x73, 0x5a, 0xff},
		{0xa3, 0x48, 0x7f, 0xff},
		{0x8a, 0x60, 0x00, 0xff},
		{0x3c, 0x5a, 0x73, 0xff},
	}
)

// dashes are those of Style by series.
var dashes = [colours][]float64{nil, {7, 4}, {2, 4}, {9, 3, 2, 3}, {12, 4}, {4, 2, 1, 2}}

// goFont is Go's font, which has Latin, Greek and Cyrillic letters. It is parsed once, and is safe for concurrent use.
var goFont = sync.OnceValues(func() (*opentype.Font, error) { return opentype.Parse(goregular.TTF) })

// bitmap draws on pixels.
type bitmap struct {
	*gg.Context
	plain, title font.Face
}

var _ canvas = (*bitmap)(nil)

// pngOf appends a picture as PNG.
func pngOf(dst []byte, draw func(open opener)) ([]byte, error) {
	f, err := goFont()
	if err != nil {
		return dst, err
	}
	b := &bitmap{}
	if b.plain, err = opentype.NewFace(f, &opentype.FaceOptions{Size: 13 * scale, DPI: 72}); err != nil {
		return dst, err
	}
	if b.title, err = opentype.NewFace(f, &opentype.FaceOptions{Size: 15 * scale, DPI: 72}); err != nil {
		return dst, err
	}
	draw(func(w, h float64, _, _ string) canvas {
		b.Context = gg.NewContext(int(math.Ceil(w*scale)), int(math.Ceil(h*scale)))
		b.SetColor(paper)
		b.Clear()
		return b
	})
	out := bytes.NewBuffer(dst)
	err = b.EncodePNG(out)
	return out.Bytes(), err
}

// anchors are the parts of a text that are left of its position.
var anchors = map[string]float64{"start": 0, "middle": 0.5, "end": 1}

func (b *bitmap) text(x, y float64, anchor, class, s string) {
	b.SetFontFace(b.plain)
	b.SetColor(ink)
	switch class {
	case "soft":
		b.SetColor(soft)
	case "title":
		b.SetFontFace(b.title)
	}
	b.DrawStringAnchored(s, x*scale, y*scale, anchors[anchor], 0)
}

func (b *bitmap) upright(x, y float64, s string) {
	b.Push()
	defer b.Pop()
	b.RotateAbout(-math.Pi/2, x*scale, y*scale)
	b.text(x, y, "middle", "", s)
}

func (b *bitmap) segment(x1, y1, x2, y2 float64, class, _ string) {
	b.pen(class)
	b.DrawLine(x1*scale, y1*scale, x2*scale, y2*scale)
	b.Stroke()
}

// pen sets width, dashes and colour of lines.
func (b *bitmap) pen(class string) {
	width, dash := 1.0, []float64(nil)
	b.SetLineCapButt()
	switch class {
	case "grid":
		b.SetColor(rule)
	case "axis":
		b.SetColor(soft)
	case "mark":
		width, dash = 2, []float64{3, 3}
		b.SetColor(hues[1])
	default: // "line k" and the number of a series, and perhaps its thickness
		i := series(class)
		width, dash = 2, dashes[i]
		if _, w, ok := strings.Cut(class, " w"); ok {
			width = float64(w[0] - '0')
		}
		b.SetColor(hues[i])
		if dash == nil {
			b.SetLineCapRound()
		}
	}
	b.SetLineJoinRound()
	b.SetLineWidth(width * scale)
	scaled := make([]float64, len(dash))
	for i, d := range dash {
		scaled[i] = d * scale
	}
	b.SetDash(scaled...)
}

// series returns the number in a class, such as 3 of "line k3".
func series(class string) int {
	if i := strings.IndexAny(class, "kfm"); i >= 0 && i+1 < len(class) {
		return int(class[i+1]-'0') % colours
	}
	return 0
}

func (b *bitmap) line(i int, x, y []float64, _ string) {
	b.pen("k" + string(rune('0'+i%colours)))
	for j := range x {
		b.LineTo(x[j]*scale, y[j]*scale)
	}
	b.Stroke()
}

func (b *bitmap) box(x, y, w, h float64, class, _ string) {
	b.DrawRectangle(x*scale, y*scale, w*scale, h*scale)
	i := series(class)
	if class[0] == 'm' || i == 0 {
		b.SetColor(hues[i])
		b.Fill()
		return
	}
	b.SetFillStyle(hatch{i})
	b.FillPreserve()
	b.SetDash()
	b.SetLineWidth(scale)
	b.SetColor(hues[i])
	b.Stroke()
}

// hatch is the pattern of a part.
type hatch struct{ part int }

// ColorAt implements gg.Pattern.
func (h hatch) ColorAt(px, py int) color.Color {
	x, y := (float64(px)+0.5)/scale, (float64(py)+0.5)/scale
	var depth float64 // inside of the ink, in pixels of SVG; negative: outside
	switch h.part {
	case 1:
		depth = stripe((x+y)/math.Sqrt2, 6, 3)
	case 2:
		depth = 1.4 - math.Hypot(math.Mod(x, 5)-2.5, math.Mod(y, 5)-2.5)
	case 3:
		depth = stripe((x-y)/math.Sqrt2, 6, 2)
	case 4:
		depth = stripe(y, 5, 2)
	default: // an outline only
		return paper
	}
	cover := min(max(0.5+depth*scale, 0), 1)
	mix := func(over, under uint8) uint8 {
		return uint8(math.Round(cover*float64(over) + (1-cover)*float64(under)))
	}
	c := hues[h.part]
	return color.RGBA{mix(c.R, paper.R), mix(c.G, paper.G), mix(c.B, paper.B), 0xff}
}

// stripe returns how far a position is inside of stripes of a width, one each period.
func stripe(at, period, width float64) float64 {
	at = math.Mod(at, period)
	if at < 0 {
		at += period
	}
	return min(at, width-at)
}

func (b *bitmap) marker(i int, x, y float64) {
	i %= colours
	const r = 3.5
	b.SetColor(hues[i])
	path := func(points ...float64) {
		for j := 0; j < len(points); j += 2 {
			b.LineTo((x+points[j])*scale, (y+points[j+1])*scale)
		}
		b.ClosePath()
	}
	switch i {
	case 0:
		b.DrawCircle(x*scale, y*scale, r*scale)
	case 1:
		path(-r, -r, r, -r, r, r, -r, r)
	case 2:
		path(0, -r, 4, r, -4, r)
	case 3:
		path(0, -4, 4, 0, 0, 4, -4, 0)
	case 4:
		path(0, r, 4, -r, -4, -r)
	default:
		path(-4, -1, -1, -1, -1, -4, 1, -4, 1, -1, 4, -1, 4, 1, 1, 1, 1, 4, -1, 4, -1, 1, -4, 1)
	}
	b.Fill()
}
