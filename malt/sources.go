// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/malt/graph"
)

// The server names a source of values without knowledge of the graphs. A new rank does not know them either: its
// program creates the vectors later. So the source answers with the ranks that are neighbours of the new one, if it
// is none itself. The new rank tries them in turn: one that has no values closes the connection. Then the rank asks
// the source again, for its own values.

// maxSources is the largest number of neighbours that a source names.
const maxSources = 8

// neighbours returns members that share more edges with the rank to than self does: those that are in- or
// out-neighbours of it in the most graphs first, and of these the lowest. The graphs are those of all ranks of the job.
func neighbours(graphs []*graph.Graph, live members.Set, total, self, to int) []int {
	at := live.Position(to)
	if at < 0 {
		return nil
	}
	var lost []int
	for rank := range total {
		if live.Position(rank) < 0 {
			lost = append(lost, rank)
		}
	}
	shared := map[int]int{} // graphs, by rank
	for _, g := range graphs {
		if len(lost) > 0 {
			g = g.Without(lost...)
		}
		near := slices.Concat(g.Senders(at), g.Receivers(at))
		slices.Sort(near)
		for _, position := range slices.Compact(near) {
			shared[live[position]]++
		}
	}
	var better []int
	for rank, n := range shared {
		if rank != to && n > shared[self] {
			better = append(better, rank)
		}
	}
	slices.SortFunc(better, func(a, b int) int { return cmp.Or(shared[b]-shared[a], a-b) })
	return better[:min(len(better), maxSources)]
}

// appendSources appends the answer that names other sources: elsewhere, their number u32, and their ranks u32 each,
// little-endian.
func appendSources(dst []byte, ranks []int) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(append(dst, elsewhere), uint32(len(ranks)))
	for _, rank := range ranks {
		dst = le.AppendUint32(dst, uint32(rank))
	}
	return dst
}

// readSources reads what follows elsewhere. All ranks must be members, and none this rank.
func readSources(r io.Reader, live members.Set, self int) ([]int, error) {
	var b [4 * maxSources]byte
	if _, err := io.ReadFull(r, b[:4]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(b[:])
	if n < 1 || n > maxSources {
		return nil, fmt.Errorf("got %d other sources, want 1 to %d", n, maxSources)
	}
	if _, err := io.ReadFull(r, b[:4*n]); err != nil {
		return nil, err
	}
	var ranks []int
	for i := range n {
		rank := int(binary.LittleEndian.Uint32(b[4*i:]))
		if rank == self || live.Position(rank) < 0 {
			return nil, fmt.Errorf("got rank %d as a source, want one of the other ranks %v", rank, live)
		}
		ranks = append(ranks, rank)
	}
	return ranks, nil
}
