// SPDX-License-Identifier: Apache-2.0

package topo

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Graph lists the messages that the ranks 0 … Size-1 send each other.
type Graph struct {
	Size  int
	Links []Link // by From, then To
}

// Link is the traffic from one rank to another.
type Link struct{ From, To, Messages, Bytes int }

// back returns the link in the opposite direction.
func (g Graph) back(l Link) (Link, bool) {
	at, ok := slices.BinarySearchFunc(g.Links, l, func(x, l Link) int {
		return cmp.Or(cmp.Compare(x.From, l.To), cmp.Compare(x.To, l.From))
	})
	if !ok {
		return Link{}, false
	}
	return g.Links[at], true
}

// ASCII writes a line per pair of ranks.
func (g Graph) ASCII() string {
	var b strings.Builder
	width := len(fmt.Sprint(g.Size - 1))
	for _, l := range g.Links {
		back, both := g.back(l)
		switch {
		case both && l.From > l.To: // on the line of the opposite link
		case both && back.Messages == l.Messages && back.Bytes == l.Bytes:
			fmt.Fprintf(&b, "  %*d <-> %-*d  %s each way\n", width, l.From, width, l.To, l.load())
		case both:
			fmt.Fprintf(&b, "  %*d <-> %-*d  %s; back %s\n", width, l.From, width, l.To, l.load(), back.load())
		default:
			fmt.Fprintf(&b, "  %*d --> %-*d  %s\n", width, l.From, width, l.To, l.load())
		}
	}
	return b.String()
}

// load describes the traffic of a link.
func (l Link) load() string {
	s := "s"
	if l.Messages == 1 {
		s = ""
	}
	return fmt.Sprintf("%d bytes in %d message%s", l.Bytes, l.Messages, s)
}

// DOT writes the graph for Graphviz.
func (g Graph) DOT() string {
	var b strings.Builder
	b.WriteString("digraph ranks {\n  layout=circo;\n  node [shape=circle];\n")
	for r := range g.Size {
		fmt.Fprintf(&b, "  %d;\n", r)
	}
	for _, l := range g.Links {
		fmt.Fprintf(&b, "  %d -> %d [label=\"%d\", tooltip=\"%s\"];\n", l.From, l.To, l.Bytes, l.load())
	}
	b.WriteString("}\n")
	return b.String()
}

// SVG draws the ranks in a circle, rank 0 on top, and an arrow for each link, whose
// width grows with its bytes. The lines of caption follow below.
func (g Graph) SVG(caption ...string) string {
	const dot, row = 14.0, 18.0
	radius := max(70, 8*float64(g.Size))
	side := 2 * (radius + 2*dot)
	wide := side
	for _, line := range caption {
		wide = max(wide, 20+7.5*float64(len(line)))
	}
	at := func(r int) (x, y float64) {
		angle := 2*math.Pi*float64(r)/float64(g.Size) - math.Pi/2
		return wide/2 + radius*math.Cos(angle), side/2 + radius*math.Sin(angle)
	}
	most := 1
	for _, l := range g.Links {
		most = max(most, l.Bytes)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="monospace" font-size="12">`+"\n", wide, side+row*float64(len(caption))+6)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n" +
		`<marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="#456"/></marker>` + "\n")
	for _, l := range g.Links {
		x1, y1 := at(l.From)
		x2, y2 := at(l.To)
		dx, dy := x2-x1, y2-y1
		long := math.Hypot(dx, dy)
		dx, dy = dx/long, dy/long
		// A little to the right of the line, so that the two directions do not overlap.
		x1, y1, x2, y2 = x1+dot*dx-3*dy, y1+dot*dy+3*dx, x2-dot*dx-3*dy, y2-dot*dy+3*dx
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#456" stroke-width="%.1f" marker-end="url(#a)"><title>%d to %d: %s</title></line>`+"\n",
			x1, y1, x2, y2, 0.5+2*float64(l.Bytes)/float64(most), l.From, l.To, l.load())
	}
	for r := range g.Size {
		x, y := at(r)
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="%.0f" fill="#def" stroke="#456"/><text x="%.1f" y="%.1f" text-anchor="middle">%d</text>`+"\n", x, y, dot, x, y+4, r)
	}
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	for i, line := range caption {
		fmt.Fprintf(&b, `<text x="10" y="%.1f">%s</text>`+"\n", side+row*float64(i)+10, escape.Replace(line))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
