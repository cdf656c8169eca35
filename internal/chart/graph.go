// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Link joins two nodes.
type Link struct {
	A, B  int // indices of Graph.Nodes
	Value float64
	Part  int    // index of Graph.Parts
	Label string // drawn where there are few links
	Tip   string // tooltip
}

// Graph is a picture of nodes and of the links between them, which are as thick as their values. If the links are a tree of all
// nodes it is drawn as one, in which each node is between the subtrees of lower and of higher nodes. Otherwise the nodes are on a circle.
type Graph struct {
	About string // what values are, for readers who do not see the picture
	Parts []string
	Nodes []string
	Links []Link
}

// The limits up to which a graph has labels at links, and names in nodes.
const (
	labelledLinks = 10
	namedNodes    = 64
)

// AppendSVG appends the picture.
func (g *Graph) AppendSVG(dst []byte, mode Mode) []byte {
	depth, deepest, tree := g.levels()
	var used []int
	for _, l := range g.Links {
		if !slices.Contains(used, l.Part) {
			used = append(used, l.Part)
		}
	}
	slices.Sort(used)
	names := make([]string, len(used))
	for i, part := range used {
		names[i] = g.Parts[part]
	}
	rows := legend(names)
	top := 12 + legendRow*float64(len(rows))
	h := top + 380
	if tree {
		h = top + 70*float64(deepest) + 60
	}
	p := &svg{dst}
	p.begin(mode, width, h, "", g.about(tree))
	for i, row := range rows {
		for _, e := range row {
			y := 20 + legendRow*float64(i)
			p.segment(e.x, y, e.x+26, y, fmt.Sprintf("line k%d", used[e.n]%colours), "")
			p.text(e.x+32, y+4, "start", "", e.name)
		}
	}
	n := float64(len(g.Nodes))
	radius := max(2, min(13, 0.45*(width-80)/max(n, 1)))
	x := func(i int) float64 {
		if !tree {
			return width/2 + 230*math.Sin(2*math.Pi*float64(i)/n)
		}
		return 40 + (width-80)*(float64(i)+0.5)/n
	}
	y := func(i int) float64 {
		if !tree {
			return top + 190 - 160*math.Cos(2*math.Pi*float64(i)/n)
		}
		return top + 30 + 70*float64(depth[i])
	}
	most := 0.0
	for _, l := range g.Links {
		most = max(most, l.Value)
	}
	// Several links of two nodes are beside each other.
	seen := map[[2]int]int{}
	beside := make([]float64, len(g.Links))
	ends := make([][4]float64, len(g.Links))
	for i, l := range g.Links {
		a, b := min(l.A, l.B), max(l.A, l.B)
		n := float64(seen[[2]int{a, b}])
		seen[[2]int{a, b}]++
		x1, y1, x2, y2 := x(a), y(a), x(b), y(b)
		long := max(math.Hypot(x2-x1, y2-y1), 1)
		dx, dy := -6*n*(y2-y1)/long, 6*n*(x2-x1)/long
		beside[i], ends[i] = n, [4]float64{x1 + dx, y1 + dy, x2 + dx, y2 + dy}
	}
	for i, l := range g.Links {
		thick, e := 1.0, ends[i]
		if most > 0 {
			thick += 4 * math.Sqrt(max(l.Value, 0)/most)
		}
		p.addf(`<line x1="%s" y1="%s" x2="%s" y2="%s" class="line k%d" style="stroke-width:%s"><title>%s</title></line>`+"\n",
			num(e[0]), num(e[1]), num(e[2]), num(e[3]), l.Part%colours, num(thick), escape(l.Tip))
	}
	for i, name := range g.Nodes {
		p.addf(`<circle cx="%s" cy="%s" r="%s" style="fill:var(--paper);stroke:var(--ink);stroke-width:1.5"><title>%s</title></circle>`+"\n", num(x(i)), num(y(i)), num(radius), escape("rank "+name))
		if len(g.Nodes) <= namedNodes && radius >= 7 {
			p.text(x(i), y(i)+4.5, "middle", "", name)
		}
	}
	if len(g.Links) <= labelledLinks {
		for i, l := range g.Links { // nearer to one end: labels of links that cross in the middle are apart
			at, e := 0.36+0.25*math.Mod(beside[i], 2), ends[i]
			p.addf(`<text x="%s" y="%s" text-anchor="middle" style="paint-order:stroke;stroke:var(--paper);stroke-width:7px;stroke-linejoin:round">%s</text>`+"\n",
				num(e[0]+at*(e[2]-e[0])), num(e[1]+at*(e[3]-e[1])+4), escape(l.Label))
		}
	}
	return append(p.b, "</svg>\n"...)
}

// about describes the graph in words.
func (g *Graph) about(tree bool) string {
	var b strings.Builder
	shape := "graph"
	if tree {
		shape = "tree"
	}
	fmt.Fprintf(&b, "A %s of %d nodes and %d links. %s", shape, len(g.Nodes), len(g.Links), g.About)
	for _, l := range g.Links[:min(len(g.Links), 20)] {
		fmt.Fprintf(&b, " %s.", l.Tip)
	}
	return b.String()
}

// levels returns the distance of each node from the root, if the links are a tree of all nodes. The root is in the middle of the
// longest path.
func (g *Graph) levels() (depth []int, deepest int, tree bool) {
	near := make([][]int, len(g.Nodes))
	pairs := map[[2]int]bool{}
	for _, l := range g.Links {
		if pair := [2]int{min(l.A, l.B), max(l.A, l.B)}; !pairs[pair] {
			pairs[pair] = true
			near[l.A], near[l.B] = append(near[l.A], l.B), append(near[l.B], l.A)
		}
	}
	if len(g.Nodes) == 0 || len(pairs) != len(g.Nodes)-1 {
		return nil, 0, false
	}
	from := func(root int) (depth, before, order []int) {
		depth, before = make([]int, len(near)), make([]int, len(near))
		for i := range depth {
			depth[i], before[i] = -1, -1
		}
		depth[root], order = 0, []int{root}
		for at := 0; at < len(order); at++ {
			for _, next := range near[order[at]] {
				if depth[next] < 0 {
					depth[next], before[next] = depth[order[at]]+1, order[at]
					order = append(order, next)
				}
			}
		}
		return depth, before, order
	}
	_, _, order := from(0)
	if len(order) != len(near) {
		return nil, 0, false
	}
	depth, before, order := from(order[len(order)-1])
	root := order[len(order)-1] // the other end of the longest path
	for range depth[root] / 2 {
		root = before[root]
	}
	depth, _, order = from(root)
	return depth, depth[order[len(order)-1]], true
}
