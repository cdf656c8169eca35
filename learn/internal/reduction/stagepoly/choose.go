// SPDX-License-Identifier: Apache-2.0

package stagepoly

import (
	"math"

	"github.com/gvw-project/gvw/internal/fmath"
)

// candidate is a product that may become a parent.
type candidate struct {
	importance float32
	weight     uint32
}

// choose makes parents of the products with the largest weights.
//
// Many products are equally important, for example all words of one example, so which of them are
// taken depends on the order of a heap. It is that of the C++ standard library, with the least
// important candidate first, since the results must be vw's.
func (l *learner) choose() {
	base, most := l.env.Base, l.quota()
	l.heap = l.heap[:0]
	for i := range uint32(len(l.bits) / 2) {
		if l.bits[2*i+1]&parentBit != 0 || i == l.root {
			continue
		}
		importance := abs(base.At(i)) * base.Norm(i)
		if !(importance > negligible) {
			continue
		}
		if len(l.heap) == most {
			if most == 0 || !(l.heap[0].importance < importance) {
				continue
			}
			l.pop()
		}
		l.push(candidate{importance, i})
	}
	for _, c := range l.heap {
		l.bits[2*c.weight+1] |= parentBit
	}
}

// quota returns the largest number of new parents.
func (l *learner) quota() int {
	mean := float32(l.sum) / float32(l.learned)
	n := fmath.Pow32(mean, l.exponent)
	return int(min(float64(n), float64(len(l.bits)/2)))
}

func abs(x float32) float32 { return float32(math.Abs(float64(x))) }

// push adds a candidate to the heap.
func (l *learner) push(c candidate) {
	l.heap = append(l.heap, c)
	l.rise(len(l.heap)-1, c)
}

// rise puts a candidate at a hole, or above it.
func (l *learner) rise(hole int, c candidate) {
	for hole > 0 && l.heap[(hole-1)/2].importance > c.importance {
		l.heap[hole] = l.heap[(hole-1)/2]
		hole = (hole - 1) / 2
	}
	l.heap[hole] = c
}

// pop removes the least important candidate: the hole that it leaves sinks to a leaf, from which the
// last candidate rises.
func (l *learner) pop() {
	n := len(l.heap) - 1
	last := l.heap[n]
	l.heap = l.heap[:n]
	if n == 0 {
		return
	}
	hole := 0
	for 2*hole+2 < n {
		child := 2*hole + 2
		if l.heap[child].importance > l.heap[child-1].importance {
			child--
		}
		l.heap[hole] = l.heap[child]
		hole = child
	}
	if 2*hole+1 < n {
		l.heap[hole] = l.heap[2*hole+1]
		hole = 2*hole + 1
	}
	l.rise(hole, last)
}
