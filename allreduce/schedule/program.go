// SPDX-License-Identifier: Apache-2.0

package schedule

import "slices"

// Act is what a step does with its range of the vector.
type Act uint8

const (
	// Give sends the range: the result so far, or with Own the contribution.
	Give Act = iota
	// Take receives the range; what was there is gone.
	Take
	// Below receives an operand of lower ranks: result = received ∘ ours.
	Below
	// Above receives an operand of higher ranks: result = ours ∘ received.
	Above
)

// Step is one instruction of a rank's program: a range of the vector goes to a
// peer or comes from it.
type Step struct {
	Act    Act
	Peer   int // the rank at the other end
	Lo, Hi int // the range, in bytes; empty is a message too
	// Own: no step before has written the range, so what is sent, or joined with
	// what comes, is this rank's contribution.
	Own bool
	// After are the steps that must be past a byte before this one touches it.
	After []int32
}

// Program is one rank's share of a collective: a list of steps. Two rules order
// them, and nothing else does:
//
//   - steps that touch the same byte, one of them writing, do so in the order of
//     the list (Step.After says which);
//   - steps in the same direction with the same peer go over their edge in the
//     order of the list: the k-th Give of one end is the k-th receiving step of
//     the other, and as long.
//
// So a step begins with its first bytes as soon as they are there, while the rest
// is still on its way here; that is all there is to pipelining. A program is
// never changed once it is made, and may serve many collectives.
type Program struct {
	Size, Rank int
	Bytes      int // of the vector
	Steps      []Step
	Peers      []int // whom the steps name, rising
	sends      [][]int32
	receives   [][]int32
}

// Among is the program for some ranks of a larger job: rank i is ranks[i] there. They rise.
func (p *Program) Among(ranks []int) *Program {
	q := *p
	q.Steps, q.Peers = slices.Clone(p.Steps), slices.Clone(p.Peers)
	q.Rank = ranks[p.Rank]
	for i := range q.Steps {
		q.Steps[i].Peer = ranks[q.Steps[i].Peer]
	}
	for i := range q.Peers {
		q.Peers[i] = ranks[q.Peers[i]]
	}
	return &q
}

// Move is one part of a step, for a driver to carry out.
type Move struct {
	Step   int // in Program.Steps
	Act    Act
	Own    bool
	Lo, Hi int
	Last   bool // the step ends with it
}
