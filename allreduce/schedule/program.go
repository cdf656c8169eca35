// SPDX-License-Identifier: Apache-2.0

package schedule

import "slices"

// Act is the operation of a step on its range of the vector.
type Act uint8

const (
	// Give sends the range: the current result, or with Own the contribution.
	Give Act = iota
	// Take receives the range and overwrites it.
	Take
	// Below receives an operand of lower ranks: result = received ∘ ours.
	Below
	// Above receives an operand of higher ranks: result = ours ∘ received.
	Above
)

// Step is one instruction of a rank's program: a range of the vector is sent to a
// peer or received from it.
type Step struct {
	Act    Act
	Peer   int // the rank at the other end
	Lo, Hi int // the range in bytes; an empty range is a message, too
	// Own means that no earlier step has written the range: this rank's contribution
	// is sent, or joined with what arrives.
	Own bool
	// After are the steps that must have passed a byte before this one accesses it.
	After []int32
}

// Program is one rank's part of a collective: a list of steps. Only two rules order
// them:
//
//   - Steps that access the same byte, of which at least one writes it, do so in the
//     order of the list. Step.After names them.
//   - Steps in the same direction with the same peer use their edge in the order of
//     the list. The k-th Give of one end matches the k-th receiving step of the other
//     end, and has the same length.
//
// A step may therefore start with its first bytes while the rest is still on its
// way to this rank. This is the only mechanism of pipelining. A program is immutable
// and may be used by many collectives at once.
type Program struct {
	Size, Rank int // of the job, and of this program
	Bytes      int // length of the vector
	Steps      []Step
	Peers      []int     // the ranks that the steps name, ascending
	sends      [][]int32 // by index in Peers: the steps that send to it
	receives   [][]int32 // by index in Peers: the steps that receive from it
}

// Among returns the program for some ranks of a larger job, in which rank i is ranks[i]. The
// ranks must be ascending.
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

// Move is one part of a step that a driver is to carry out.
type Move struct {
	Step   int // index in Program.Steps
	Act    Act
	Own    bool
	Lo, Hi int  // the range in bytes
	Last   bool // it completes the step
}
