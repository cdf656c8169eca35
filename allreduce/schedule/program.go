// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
	"strings"
)

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

// String returns the act's name in lists of steps.
func (a Act) String() string {
	if names := [...]string{"give", "take", "below", "above"}; int(a) < len(names) {
		return names[a]
	}
	return fmt.Sprintf("act %d", uint8(a))
}

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

// String lists the steps, one per line. A join is written as the sum that it computes.
func (p *Program) String() string {
	var b strings.Builder
	for i, s := range p.Steps {
		own := "result"
		if s.Own {
			own = "own"
		}
		what := ""
		switch s.Act {
		case Give:
			what = fmt.Sprintf("%s to rank %d", own, s.Peer)
		case Take:
			what = fmt.Sprintf("result from rank %d", s.Peer)
		case Below:
			what = fmt.Sprintf("result = rank %d's + %s", s.Peer, own)
		case Above:
			what = fmt.Sprintf("result = %s + rank %d's", own, s.Peer)
		}
		fmt.Fprintf(&b, "%5d  bytes %d to %d: %s", i, s.Lo, s.Hi, what)
		if len(s.After) > 0 {
			fmt.Fprintf(&b, ", after %s", strings.Trim(fmt.Sprint(s.After), "[]"))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Move is one part of a step that a driver is to carry out.
type Move struct {
	Step   int // index in Program.Steps
	Act    Act
	Own    bool
	Lo, Hi int  // the range in bytes
	Last   bool // it completes the step
}
