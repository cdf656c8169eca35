// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"strings"
)

// Name names a way to all-reduce. Its numbers are part of the protocol.
type Name uint8

// The schedules. Auto stands for the one that [Spec.Pick] picks.
const (
	Auto       Name = 0
	Doubling   Name = 1 // recursive doubling: the whole vector to a partner, log2 N times
	Halving    Name = 2 // halving and doubling, after Rabenseifner
	Ring       Name = 3 // a ring with cut-through
	BinaryTree Name = 4 // the pipelined binary tree
	DoubleTree Name = 5 // two trees, half of the vector each
	Direct     Name = 6 // everybody with everybody: each rank sums a segment; a short vector rank 0 alone
	VWTree     Name = 7 // the pipelined tree in the shape of vw's spanning_tree
)

// Names are the schedules that can be asked for, Auto not among them.
var Names = []Name{Doubling, Halving, Ring, BinaryTree, DoubleTree, Direct, VWTree}

var nameTexts = [...]string{"auto", "doubling", "halving", "ring", "tree", "double_tree", "direct", "vw_tree"}

func (n Name) String() string {
	if int(n) < len(nameTexts) {
		return nameTexts[n]
	}
	return fmt.Sprintf("schedule %d", uint8(n))
}

// Valid says whether n is one of the constants.
func (n Name) Valid() bool { return int(n) < len(nameTexts) }

// ParseName is the schedule of that name, Auto included. Dashes may stand for
// underscores.
func ParseName(text string) (Name, error) {
	for i, t := range nameTexts {
		if t == strings.ReplaceAll(text, "-", "_") {
			return Name(i), nil
		}
	}
	return Auto, fmt.Errorf("schedule: there is no schedule %q: choose one of %s", text, strings.Join(nameTexts[:], ", "))
}

// Ordered says that each sum has its operands in the order of the ranks, so that
// an operation need not be commutative. Only the ring's sums do not: each
// begins at another rank and wraps around at the last one.
func (n Name) Ordered() bool { return n != Ring && n != Auto }
