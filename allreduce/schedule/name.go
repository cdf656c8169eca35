// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"strings"
)

// Name is the number of an all-reduce schedule. The numbers are part of the wire protocol.
type Name uint8

// The schedules. Auto stands for the one that [Spec.Pick] returns.
const (
	Auto       Name = 0
	Doubling   Name = 1 // recursive doubling: the whole vector to log2 N partners in turn
	Halving    Name = 2 // recursive halving and doubling (Rabenseifner)
	Ring       Name = 3 // ring with cut-through
	BinaryTree Name = 4 // pipelined binary tree
	DoubleTree Name = 5 // two trees, each for half of the vector
	Direct     Name = 6 // each rank with each other: each sums a segment, rank 0 a short vector
	VWTree     Name = 7 // pipelined tree in the shape of vw's spanning_tree
)

// Names are the schedules that a caller can request, without Auto.
var Names = []Name{Doubling, Halving, Ring, BinaryTree, DoubleTree, Direct, VWTree}

var nameTexts = [...]string{"auto", "doubling", "halving", "ring", "tree", "double_tree", "direct", "vw_tree"}

// String returns the name that options use, such as double_tree.
func (n Name) String() string {
	if int(n) < len(nameTexts) {
		return nameTexts[n]
	}
	return fmt.Sprintf("schedule %d", uint8(n))
}

// Valid reports whether n is one of the constants.
func (n Name) Valid() bool { return int(n) < len(nameTexts) }

// ParseName returns the schedule of that name, which may be auto. Dashes count as
// underscores.
func ParseName(text string) (Name, error) {
	for i, t := range nameTexts {
		if t == strings.ReplaceAll(text, "-", "_") {
			return Name(i), nil
		}
	}
	return Auto, fmt.Errorf("schedule: unknown schedule %q: use one of %s", text, strings.Join(nameTexts[:], ", "))
}

// Ordered reports whether the operands of each sum are in the order of the ranks, so
// that the operation need not be commutative. Only the ring's are not: each of its
// sums begins at another rank and wraps around at the last one.
func (n Name) Ordered() bool { return n != Ring && n != Auto }
