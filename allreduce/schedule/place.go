// SPDX-License-Identifier: Apache-2.0

package schedule

import "fmt"

// None is the rank at the other end of an edge that is not there.
const None = -1

// Tree is an in-order binary tree over ranks, such as topo.Binary(n).
type Tree interface {
	Size() int
	Parent(rank int) int
	Children(rank int) (left, right int)
}

// Place is where one rank stands in a tree.
type Place struct {
	Rank, Size int
	Peer       [Edges]int // the rank at the other end of each edge; None
	Lo, Hi     int        // the subtree of Rank holds the ranks Lo … Hi-1
}

// PlaceIn returns the place of rank in t.
func PlaceIn(t Tree, rank int) Place {
	if rank < 0 || rank >= t.Size() {
		panic(fmt.Sprintf("BUG: schedule: rank %d asked for its place in a tree of %d", rank, t.Size()))
	}
	p := Place{Rank: rank, Size: t.Size(), Lo: rank, Hi: rank + 1}
	p.Peer[Up] = t.Parent(rank)
	p.Peer[Left], p.Peer[Right] = t.Children(rank)
	for r := p.Peer[Left]; r != None; r, _ = t.Children(r) {
		p.Lo = r
	}
	for r := p.Peer[Right]; r != None; _, r = t.Children(r) {
		p.Hi = r + 1
	}
	return p
}

// has says whether the edge is there.
func (p *Place) has(edge int) bool { return p.Peer[edge] != None }

// toward is the edge that leads to rank.
func (p *Place) toward(rank int) int {
	switch {
	case rank == p.Rank:
		return Self
	case rank < p.Lo || rank >= p.Hi:
		return Up
	case rank < p.Rank:
		return Left
	}
	return Right
}
