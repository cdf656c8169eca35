// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"

	"github.com/gvw-project/gvw/allreduce/topo"
)

// Spec describes a collective; all ranks have the same. Together with a rank it determines
// a program. Specs are comparable, so one may be the key of a cache.
type Spec struct {
	// Schedule of an all-reduce. 0: the one that Pick returns. The other collectives
	// ignore it.
	Schedule Name
	// Size is the number of ranks, at least 1.
	Size int
	// Bytes is the length of the vector, a multiple of Elem.
	Bytes int
	// Elem is the size of an element in bytes. Segments begin at its multiples. 0: 1.
	Elem int
	// Chunk is the number of bytes per message where a schedule has steps per chunk, a
	// multiple of 8. It never changes a sum. 0: 256 KiB.
	Chunk int
	// Ordered keeps the operands of each sum in the order of the ranks, for an operation
	// that is not commutative. false: Auto and ReduceScatter may choose a ring.
	Ordered bool
}

// DefaultChunk is the default of Spec.Chunk in bytes: the fastest on loopback.
const DefaultChunk = 256 << 10

// withDefaults returns s with its defaults. It panics on a Spec that has no program.
func (s Spec) withDefaults() Spec {
	if s.Elem == 0 {
		s.Elem = 1
	}
	if s.Chunk == 0 {
		s.Chunk = DefaultChunk
	}
	if s.Size < 1 || s.Bytes < 0 || s.Elem < 0 || s.Bytes%s.Elem != 0 || s.Chunk < 0 || !s.Schedule.Valid() || s.Ordered && s.Schedule == Ring {
		panic(fmt.Sprintf("BUG: schedule: there are no programs for %+v", s))
	}
	if s.Schedule == Auto {
		s.Schedule = s.Pick()
	}
	return s
}

// builder returns a builder for the program of rank.
func (s Spec) builder(rank int) builder {
	if rank < 0 || rank >= s.Size {
		panic(fmt.Sprintf("BUG: schedule: a program for rank %d of %d", rank, s.Size))
	}
	return newBuilder(s.Size, rank, s.Bytes)
}

// Cut returns the offset of the k-th of Size equal segments: segment k is Cut(k) …
// Cut(k+1). It is a multiple of Elem.
func (s Spec) Cut(k int) int { return s.cutIn(0, s.Bytes, k, s.Size) }

// cutIn returns the offset of the k-th of n equal segments of lo … hi.
func (s Spec) cutIn(lo, hi, k, n int) int {
	elem := max(1, s.Elem)
	elems := (hi - lo) / elem
	return lo + (elems/n*k+elems%n*k/n)*elem
}

// AllReduce returns rank's program of an all-reduce: on all ranks the result is the sum of
// all contributions. With an empty vector it is a barrier, whatever the schedule.
func (s Spec) AllReduce(rank int) *Program {
	s = s.withDefaults()
	if s.Bytes == 0 {
		return s.doubling(rank)
	}
	switch s.Schedule {
	case Doubling:
		return s.doubling(rank)
	case Halving:
		return s.halving(rank)
	case Ring:
		return s.ring(rank)
	case BinaryTree, VWTree:
		return PipelinedTree(s.tree(), rank, s.Bytes)
	case DoubleTree:
		return s.doubleTree(rank)
	case Direct:
		return s.direct(rank)
	}
	panic("BUG: schedule: no program for " + s.Schedule.String())
}

// Barrier returns a program without data, which no rank completes before all have begun it.
func (s Spec) Barrier(rank int) *Program {
	s.Bytes, s.Schedule = 0, Doubling
	return s.AllReduce(rank)
}

// Graph returns the messages and bytes between each pair of ranks in an all-reduce.
func (s Spec) Graph() topo.Graph {
	g := topo.Graph{Size: s.Size}
	for rank := range s.Size {
		p := s.AllReduce(rank)
		for at, peer := range p.Peers {
			l := topo.Link{From: rank, To: peer, Messages: len(p.sends[at])}
			for _, i := range p.sends[at] {
				l.Bytes += p.Steps[i].Hi - p.Steps[i].Lo
			}
			if l.Messages > 0 {
				g.Links = append(g.Links, l)
			}
		}
	}
	return g
}
