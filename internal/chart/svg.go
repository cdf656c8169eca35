// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// Mode is the place of a picture.
type Mode int

// The modes.
const (
	Inline Mode = iota // in a page with Style and Defs
	File               // a file of its own
)

// colours is the number of hues, hatches, dashes and markers. More series repeat them.
const colours = 6

// Style is the style sheet of pictures.
const Style = `.chart{--paper:#fff;--ink:#1b1f24;--soft:#57606a;--grid:#d8dee4;--c0:#0072b2;--c1:#c04f00;--c2:#00735a;--c3:#a3487f;--c4:#8a6000;--c5:#3c5a73;
font:13px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;background:var(--paper)}
@media (prefers-color-scheme:dark){.chart{--paper:#14181d;--ink:#e8edf2;--soft:#a5b0bb;--grid:#343c45;--c0:#6cb8f0;--c1:#ff9a5c;--c2:#3fcfa8;--c3:#e59cc4;--c4:#f0c043;--c5:#b4c7d8}}
@media print{.chart{--paper:#fff;--ink:#000;--soft:#333;--grid:#bbb;--c0:#0072b2;--c1:#c04f00;--c2:#00735a;--c3:#a3487f;--c4:#8a6000;--c5:#3c5a73}}
.chart text{fill:var(--ink)}.chart .soft{fill:var(--soft)}.chart .title{font-weight:600;font-size:14px}
.chart .grid{stroke:var(--grid);stroke-width:1}.chart .axis{stroke:var(--soft);stroke-width:1}
.chart .line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.chart .k0{stroke:var(--c0)}.chart .k1{stroke:var(--c1);stroke-dasharray:7 4}.chart .k2{stroke:var(--c2);stroke-dasharray:2 4}
.chart .k3{stroke:var(--c3);stroke-dasharray:9 3 2 3}.chart .k4{stroke:var(--c4);stroke-dasharray:12 4}.chart .k5{stroke:var(--c5);stroke-dasharray:4 2 1 2}
.chart .m0{fill:var(--c0)}.chart .m1{fill:var(--c1)}.chart .m2{fill:var(--c2)}.chart .m3{fill:var(--c3)}.chart .m4{fill:var(--c4)}.chart .m5{fill:var(--c5)}
.chart .f0{fill:var(--c0);stroke:var(--c0)}.chart .f1{fill:url(#h1);stroke:var(--c1)}.chart .f2{fill:url(#h2);stroke:var(--c2)}
.chart .f3{fill:url(#h3);stroke:var(--c3)}.chart .f4{fill:url(#h4);stroke:var(--c4)}.chart .f5{fill:none;stroke:var(--c5)}
.chart .mark{stroke:var(--c1);stroke-width:2;stroke-dasharray:3 3}
`

// defs are the hatches, in the colours of the style.
const defs = `<defs>
<pattern id="h1" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="3" height="6" style="fill:var(--c1)"/></pattern>
<pattern id="h2" width="5" height="5" patternUnits="userSpaceOnUse"><circle cx="2.5" cy="2.5" r="1.4" style="fill:var(--c2)"/></pattern>
<pattern id="h3" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect width="2" height="6" style="fill:var(--c3)"/></pattern>
<pattern id="h4" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="2" style="fill:var(--c4)"/></pattern>
</defs>
`

// Defs is an element without size that pictures of mode Inline need once in their page.
const Defs = `<svg class="chart" width="0" height="0" style="position:absolute" aria-hidden="true" focusable="false">` + defs + `</svg>
`

// canvas is what pictures are drawn on. Coordinates are in pixels, classes are those of Style without the first word.
type canvas interface {
	text(x, y float64, anchor, class, s string)         // anchor is start, middle or end
	upright(x, y float64, s string)                     // text that is read from below, with its middle at x, y
	segment(x1, y1, x2, y2 float64, class, name string) // a straight line; name is a tooltip, if it is not empty
	box(x, y, w, h float64, class, tip string)          // a rectangle with a tooltip
	marker(i int, x, y float64)                         // of series i
	line(i int, x, y []float64, name string)            // of series i
}

// opener begins a picture of a size, in pixels. about describes it for readers who do not see it.
type opener func(w, h float64, title, about string) canvas

// svg builds an SVG.
type svg struct{ b []byte }

var _ canvas = (*svg)(nil)

// svgOf appends a picture as SVG.
func svgOf(dst []byte, mode Mode, draw func(open opener)) []byte {
	p := &svg{dst}
	draw(func(w, h float64, title, about string) canvas {
		p.begin(mode, w, h, title, about)
		return p
	})
	return append(p.b, "</svg>\n"...)
}

// begin opens the picture.
func (p *svg) begin(mode Mode, w, h float64, title, about string) {
	p.addf(`<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-label="%s">`+"\n",
		num(w), num(h), num(w), num(h), escape(strings.TrimSuffix(title, ".")+". "+about))
	if mode == File {
		p.addf("<title>%s</title>\n<style>%s</style>\n", escape(title), Style)
		p.b = append(p.b, defs...)
		p.addf(`<rect width="%s" height="%s" style="fill:var(--paper)"/>`+"\n", num(w), num(h))
	}
}

// addf adds formatted text, which is not escaped.
func (p *svg) addf(format string, args ...any) { p.b = fmt.Appendf(p.b, format, args...) }

func (p *svg) text(x, y float64, anchor, class, s string) {
	p.addf(`<text x="%s" y="%s" text-anchor="%s" class="%s">%s</text>`+"\n", num(x), num(y), anchor, class, escape(s))
}

func (p *svg) upright(x, y float64, s string) {
	p.addf(`<text x="%s" y="%s" text-anchor="middle" transform="rotate(-90 %[1]s %[2]s)">%s</text>`+"\n", num(x), num(y), escape(s))
}

func (p *svg) segment(x1, y1, x2, y2 float64, class, name string) {
	if name != "" {
		p.addf(`<g><title>%s</title>`, escape(name))
		defer p.addf("</g>\n")
	}
	p.addf(`<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`+"\n", num(x1), num(y1), num(x2), num(y2), class)
}

func (p *svg) box(x, y, w, h float64, class, tip string) {
	p.addf(`<rect x="%s" y="%s" width="%s" height="%s" class="%s">`, num(x), num(y), num(w), num(h), class)
	if tip != "" {
		p.addf(`<title>%s</title>`, escape(tip))
	}
	p.addf("</rect>\n")
}

func (p *svg) line(i int, x, y []float64, name string) {
	p.addf(`<path class="line k%d" d="`, i%colours)
	for j := range x {
		c := byte('L')
		if j == 0 {
			c = 'M'
		}
		p.addf("%c%s %s", c, num(x[j]), num(y[j]))
	}
	p.addf("\"><title>%s</title></path>\n", escape(name))
}

func (p *svg) marker(i int, x, y float64) {
	i %= colours
	const r = 3.5
	switch i {
	case 0:
		p.addf(`<circle cx="%s" cy="%s" r="%s" class="m0"/>`, num(x), num(y), num(r))
	case 1:
		p.addf(`<rect x="%s" y="%s" width="7" height="7" class="m1"/>`, num(x-r), num(y-r))
	case 2:
		p.addf(`<path d="M%s %sl4 7h-8z" class="m2"/>`, num(x), num(y-r))
	case 3:
		p.addf(`<path d="M%s %sl4 4l-4 4l-4-4z" class="m3"/>`, num(x), num(y-4))
	case 4:
		p.addf(`<path d="M%s %sl4-7h-8z" class="m4"/>`, num(x), num(y+r))
	default:
		p.addf(`<path d="M%s %sh3v-3h2v3h3v2h-3v3h-2v-3h-3z" class="m5"/>`, num(x-4), num(y-1))
	}
	p.b = append(p.b, '\n')
}

// textWidth estimates the width of text, in pixels.
func textWidth(s string) float64 { return 7 * float64(len([]rune(s))) }

// num formats a coordinate.
func num(x float64) string {
	s := strconv.FormatFloat(x, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

func escape(s string) string { return html.EscapeString(s) }
