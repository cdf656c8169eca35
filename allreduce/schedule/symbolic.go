// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
)

// Outcome is the result of [Execute]: for each rank a sum per range.
type Outcome struct {
	cuts  []int              // the ranges' borders, in bytes
	held  [][]int32          // by rank and cell: a node, or unset
	nodes [][2]int32         // the operands of a join, or a rank and leaf
	exprs [][]int32          // by node, computed on demand
	known map[[2]int32]int32 // from the operands of a join to its node
}

const (
	unset int32 = -1 // a cell without a value
	leaf  int32 = -2 // the second operand of a contribution
)

// Execute runs the programs of all ranks on symbols instead of numbers, and returns
// the sums in each rank's result at the end. With inPlace the result begins as the
// contribution; otherwise it begins empty.
//
// The conditions are the strictest possible: a message is sent only when its receiver
// takes it, and each rank has one buffer per peer, for an operand that waits to be
// joined. Steps wait only for other steps and make no choices. So if this order
// completes, every order does, with the same result. An error names the rule that the
// programs break: sends and receives do not match, the ranks wait for each other in a
// cycle, or a rank sends bytes that it does not have.
func Execute(programs []*Program, inPlace bool) (*Outcome, error) {
	m := &machine{programs: programs}
	if err := m.match(); err != nil {
		return nil, err
	}
	m.begin(inPlace)
	m.link()
	return &m.out, m.run()
}

// machine executes programs. It has two kinds of events: the transfer of a message,
// which completes a Give or a Take, and the join of an operand. The number of a transfer
// is that of its Give, the number of a join that of its receiving step.
type machine struct {
	programs   []*Program
	base       []int     // by rank: number of its first step
	owner      []int32   // by step: rank
	partner    []int32   // by step: step at the other end
	waits      []int32   // by event: number of events that it still waits for
	successors [][]int32 // by event: the events that wait for it
	operands   [][]int32 // by receiving step: the operand that has arrived
	out        Outcome
}

// step returns step i of all ranks' steps.
func (m *machine) step(i int32) *Step {
	r := m.owner[i]
	return &m.programs[r].Steps[int(i)-m.base[r]]
}

// match finds the other end of each message.
func (m *machine) match() error {
	for r, p := range m.programs {
		m.base = append(m.base, len(m.owner))
		if p.Size != len(m.programs) || p.Rank != r {
			return fmt.Errorf("schedule: program %d of %d is for rank %d of %d", r, len(m.programs), p.Rank, p.Size)
		}
		for range p.Steps {
			m.owner = append(m.owner, int32(r))
		}
	}
	m.partner = make([]int32, len(m.owner))
	for r, p := range m.programs {
		for at, peer := range p.Peers {
			if peer < 0 || peer >= len(m.programs) || peer == r {
				return fmt.Errorf("schedule: rank %d has a step with rank %d of %d", r, peer, len(m.programs))
			}
			if err := m.matchEdge(p, at, m.programs[peer]); err != nil {
				return err
			}
		}
	}
	return nil
}

// matchEdge pairs the sends of p to one peer with that peer's receives.
func (m *machine) matchEdge(p *Program, at int, peer *Program) error {
	gives := p.sends[at]
	var takes []int32
	if back, ok := slices.BinarySearch(peer.Peers, p.Rank); ok {
		takes = peer.receives[back]
	} else if n := len(p.receives[at]); n > 0 { // the peer has no edge to p at which to find it
		return fmt.Errorf("schedule: rank %d sends rank %d 0 messages: want %d", peer.Rank, p.Rank, n)
	}
	if len(gives) != len(takes) {
		return fmt.Errorf("schedule: rank %d sends rank %d %d messages: want %d", p.Rank, peer.Rank, len(gives), len(takes))
	}
	for k := range gives {
		g, t := p.Steps[gives[k]], peer.Steps[takes[k]]
		if g.Lo != t.Lo || g.Hi != t.Hi {
			return fmt.Errorf("schedule: rank %d sends rank %d bytes %d to %d: want %d to %d", p.Rank, peer.Rank, g.Lo, g.Hi, t.Lo, t.Hi)
		}
		a, b := m.base[p.Rank]+int(gives[k]), m.base[peer.Rank]+int(takes[k])
		m.partner[a], m.partner[b] = int32(b), int32(a)
	}
	return nil
}

// begin cuts the vector into cells and initializes the results.
func (m *machine) begin(inPlace bool) {
	o := &m.out
	o.cuts = []int{0}
	for _, p := range m.programs {
		o.cuts = append(o.cuts, p.Bytes)
		for i := range p.Steps {
			o.cuts = append(o.cuts, p.Steps[i].Lo, p.Steps[i].Hi)
		}
	}
	slices.Sort(o.cuts)
	o.cuts = slices.Clip(slices.Compact(o.cuts))
	o.known = map[[2]int32]int32{}
	for r := range m.programs {
		o.nodes = append(o.nodes, [2]int32{int32(r), leaf})
		row := make([]int32, len(o.cuts)-1)
		for c := range row {
			if row[c] = unset; inPlace {
				row[c] = int32(r)
			}
		}
		o.held = append(o.held, row)
	}
	m.operands = make([][]int32, len(m.owner))
}

// link records the order of the events.
func (m *machine) link() {
	m.waits, m.successors = make([]int32, len(m.owner)), make([][]int32, len(m.owner))
	for r, p := range m.programs {
		for i := range p.Steps {
			s, at := &p.Steps[i], int32(m.base[r]+i)
			event := at
			if s.Act == Take {
				event = m.partner[at]
			}
			for _, before := range s.After {
				m.precede(m.ends(int32(m.base[r])+before), event)
			}
			if s.Act == Below || s.Act == Above {
				m.precede(m.partner[at], at)
			}
		}
		for at := range p.Peers {
			for k := 1; k < len(p.sends[at]); k++ {
				m.precede(int32(m.base[r])+p.sends[at][k-1], int32(m.base[r])+p.sends[at][k])
			}
			for k := 1; k < len(p.receives[at]); k++ { // the buffer must be free again
				last, next := int32(m.base[r])+p.receives[at][k-1], int32(m.base[r])+p.receives[at][k]
				m.precede(m.ends(last), m.partner[next])
			}
		}
	}
}

// ends returns the event that completes a step.
func (m *machine) ends(i int32) int32 {
	if m.step(i).Act == Take {
		return m.partner[i]
	}
	return i
}

// precede makes event b wait for event a.
func (m *machine) precede(a, b int32) {
	m.successors[a] = append(m.successors[a], b)
	m.waits[b]++
}

// run applies events until none is ready.
func (m *machine) run() error {
	var ready []int32
	left := 0
	for i := range m.owner {
		if m.step(int32(i)).Act == Take {
			continue
		}
		if left++; m.waits[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	for len(ready) > 0 {
		event := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		if err := m.apply(event); err != nil {
			return err
		}
		left--
		for _, next := range m.successors[event] {
			if m.waits[next]--; m.waits[next] == 0 {
				ready = append(ready, next)
			}
		}
	}
	if left > 0 {
		return m.stuck(left)
	}
	return nil
}

// stuck returns the error for events that can never happen.
func (m *machine) stuck(left int) error {
	for i, n := range m.waits {
		if s := m.step(int32(i)); n > 0 && s.Act != Take {
			return fmt.Errorf("schedule: ranks wait for each other in a cycle: %d events remain, one of them step %+v of rank %d", left, *s, m.owner[i])
		}
	}
	panic("BUG: schedule: events remain, but none waits")
}

// apply applies one event.
func (m *machine) apply(i int32) error {
	s, o := m.step(i), &m.out
	lo, _ := slices.BinarySearch(o.cuts, s.Lo)
	hi, _ := slices.BinarySearch(o.cuts, s.Hi)
	row := o.held[m.owner[i]][lo:hi]
	if s.Act != Give {
		for c, x := range m.operands[i] {
			if s.Own {
				row[c] = m.owner[i]
			}
			if row[c] == unset {
				return fmt.Errorf("schedule: rank %d joins an operand with bytes that it does not have: step %+v", m.owner[i], *s)
			}
			if s.Act == Below {
				row[c] = o.join(x, row[c])
			} else {
				row[c] = o.join(row[c], x)
			}
		}
		m.operands[i] = nil
		return nil
	}
	sums := slices.Clone(row)
	for c := range sums {
		if s.Own {
			sums[c] = m.owner[i]
		}
		if sums[c] == unset {
			return fmt.Errorf("schedule: rank %d sends bytes that it does not have: step %+v", m.owner[i], *s)
		}
	}
	to := m.partner[i]
	if m.step(to).Act == Take {
		copy(o.held[m.owner[to]][lo:hi], sums)
	} else {
		m.operands[to] = sums
	}
	return nil
}

// join returns the node of a ∘ b.
func (o *Outcome) join(a, b int32) int32 {
	node, ok := o.known[[2]int32{a, b}]
	if !ok {
		node = int32(len(o.nodes))
		o.nodes = append(o.nodes, [2]int32{a, b})
		o.known[[2]int32{a, b}] = node
	}
	return node
}

// At returns the sums that rank holds. Ranges without a value are omitted.
func (o *Outcome) At(rank int) []Sum {
	var sums []Sum
	for c, node := range o.held[rank] {
		last := len(sums) - 1
		switch {
		case node == unset:
		case c > 0 && o.held[rank][c-1] == node:
			sums[last].Hi = o.cuts[c+1]
		default:
			sums = append(sums, Sum{o.cuts[c], o.cuts[c+1], o.expr(node)})
		}
	}
	return sums
}

// Agree reports whether all ranks hold the same sums.
func (o *Outcome) Agree() bool {
	for _, row := range o.held {
		if !slices.Equal(row, o.held[0]) {
			return false
		}
	}
	return true
}

// expr returns the postfix expression of a node.
func (o *Outcome) expr(node int32) []int32 {
	for len(o.exprs) < len(o.nodes) {
		o.exprs = append(o.exprs, nil)
	}
	if o.exprs[node] == nil {
		o.exprs[node] = o.appendExpr(nil, node)
	}
	return o.exprs[node]
}

func (o *Outcome) appendExpr(dst []int32, node int32) []int32 {
	x := o.nodes[node]
	if x[1] == leaf {
		return append(dst, x[0])
	}
	return append(o.appendExpr(o.appendExpr(dst, x[0]), x[1]), Join)
}
