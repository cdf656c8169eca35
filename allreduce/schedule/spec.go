// SPDX-License-Identifier: Apache-2.0

package schedule

import "fmt"

// Spec is what all ranks of a collective know: it and a rank make a program. It
// can be compared, so it may be the key of a cache.
type Spec struct {
	// Schedule of an all-reduce. 0: what Pick says. The other collectives have no
	// choice of the caller's.
	Schedule Name
	// Size is the number of ranks, at least 1.
	Size int
	// Bytes is the length of the vector.
	Bytes int
	// Elem is how many bytes belong together: cuts fall on their multiples, Bytes is one.
	// 0: 1.
	Elem int
	// Chunk is how many bytes travel at once where steps are made per chunk; it
	// never changes a sum. A multiple of 8. 0: 256 KiB.
	Chunk int
	// Ordered keeps the operands of each sum in the order of the ranks, for an operation
	// that does not commute. false: Auto and ReduceScatter may choose a ring.
	Ordered bool
}

// DefaultChunk is the best on loopback.
const DefaultChunk = 256 << 10

// checked is s with its defaults.
func (s Spec) checked() Spec {
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

// builder is for the program of rank.
func (s Spec) builder(rank int) builder {
	if rank < 0 || rank >= s.Size {
		panic(fmt.Sprintf("BUG: schedule: a program for rank %d of %d", rank, s.Size))
	}
	return newBuilder(s.Size, rank, s.Bytes)
}

// Cut is where the k-th of Size equal segments begins: segment k is Cut(k) …
// Cut(k+1). It falls between elements.
func (s Spec) Cut(k int) int { return s.cutIn(0, s.Bytes, k, s.Size) }

// cutIn is where the k-th of n equal segments of lo … hi begins.
func (s Spec) cutIn(lo, hi, k, n int) int {
	elem := max(1, s.Elem)
	elems := (hi - lo) / elem
	return lo + (elems/n*k+elems%n*k/n)*elem
}

// AllReduce is rank's program of an all-reduce: dst is on all ranks the sum of all
// src. An empty vector makes a barrier, whatever the schedule.
func (s Spec) AllReduce(rank int) *Program {
	s = s.checked()
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

// Barrier is a program without data: nobody ends it before all have begun.
func (s Spec) Barrier(rank int) *Program {
	s.Bytes, s.Schedule = 0, Doubling
	return s.AllReduce(rank)
}
