// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
)

// Outcome is what the ranks hold after [Execute]: a sum per range.
type Outcome struct {
	cuts  []int
	held  [][]int32  // by rank and cell: a node, or unset
	nodes [][2]int32 // operands of a join; of a leaf: the rank, and leaf
	exprs [][]int32  // by node, made when asked for
	known map[[2]int32]int32
}

const (
	unset int32 = -1
	leaf  int32 = -2
)

// Execute carries out the programs of all ranks with symbols in place of numbers, and
// reports what stands in every rank's result at the end. With inPlace the result
// begins as the contribution; otherwise it begins with nothing.
//
// The conditions are the hardest: a message is sent when its receiver takes
// it, and each rank has one buffer per peer, for an operand that waits to be
// joined. Steps wait for steps and choose nothing, so if this one order ends, every
// order does, with the same result. An error says which rules the programs break:
// what is sent and what is expected differ, ranks wait for each other in a
// circle, or a rank gives what it does not have.
func Execute(programs []*Program, inPlace bool) (*Outcome, error) {
	m := &machine{programs: programs}
	if err := m.match(); err != nil {
		return nil, err
	}
	m.begin(inPlace)
	m.link()
	return &m.out, m.run()
}

// machine executes programs. Its events are: a message goes over, which ends the step
// of the giver and a Take; an operand is joined.
type machine struct {
	programs []*Program
	base     []int   // by rank: the number of its first step
	owner    []int32 // by step: its rank
	mate     []int32 // by step: the step at the other end
	waits    []int32 // by event: how many events are still before it
	then     [][]int32
	parcel   [][]int32 // by receiving step: what came
	out      Outcome
}

// Events are numbered by step: the message of a Give under the Give's number, the
// join of an operand under its own.

func (m *machine) step(i int32) *Step {
	r := m.owner[i]
	return &m.programs[r].Steps[int(i)-m.base[r]]
}

// match finds both ends of each message.
func (m *machine) match() error {
	for r, p := range m.programs {
		m.base = append(m.base, len(m.owner))
		if p.Size != len(m.programs) || p.Rank != r {
			return fmt.Errorf("schedule: program %d of %d says that it is of rank %d of %d", r, len(m.programs), p.Rank, p.Size)
		}
		for range p.Steps {
			m.owner = append(m.owner, int32(r))
		}
	}
	m.mate = make([]int32, len(m.owner))
	for r, p := range m.programs {
		for at, peer := range p.Peers {
			if peer < 0 || peer >= len(m.programs) || peer == r {
				return fmt.Errorf("schedule: rank %d talks to rank %d of %d", r, peer, len(m.programs))
			}
			if err := m.matchEdge(p, at, m.programs[peer]); err != nil {
				return err
			}
		}
	}
	return nil
}

// matchEdge pairs what p gives to its peer with what that one expects.
func (m *machine) matchEdge(p *Program, at int, peer *Program) error {
	gives := p.sends[at]
	var takes []int32
	if back, ok := slices.BinarySearch(peer.Peers, p.Rank); ok {
		takes = peer.receives[back]
	} else if n := len(p.receives[at]); n > 0 { // no edge of the peer's will show it
		return fmt.Errorf("schedule: rank %d gives rank %d 0 times, which expects %d", peer.Rank, p.Rank, n)
	}
	if len(gives) != len(takes) {
		return fmt.Errorf("schedule: rank %d gives rank %d %d times, which expects %d", p.Rank, peer.Rank, len(gives), len(takes))
	}
	for k := range gives {
		g, t := p.Steps[gives[k]], peer.Steps[takes[k]]
		if g.Lo != t.Lo || g.Hi != t.Hi {
			return fmt.Errorf("schedule: rank %d gives rank %d bytes %d to %d, which expects %d to %d", p.Rank, peer.Rank, g.Lo, g.Hi, t.Lo, t.Hi)
		}
		a, b := m.base[p.Rank]+int(gives[k]), m.base[peer.Rank]+int(takes[k])
		m.mate[a], m.mate[b] = int32(b), int32(a)
	}
	return nil
}

// begin cuts the vector and fills the results.
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
	m.parcel = make([][]int32, len(m.owner))
}

// link notes which event comes after which.
func (m *machine) link() {
	m.waits, m.then = make([]int32, len(m.owner)), make([][]int32, len(m.owner))
	for r, p := range m.programs {
		for i := range p.Steps {
			s, at := &p.Steps[i], int32(m.base[r]+i)
			event := at
			if s.Act == Take {
				event = m.mate[at]
			}
			for _, before := range s.After {
				m.precede(m.ends(int32(m.base[r])+before), event)
			}
			if s.Act == Below || s.Act == Above {
				m.precede(m.mate[at], at)
			}
		}
		for at := range p.Peers {
			for k := 1; k < len(p.sends[at]); k++ {
				m.precede(int32(m.base[r])+p.sends[at][k-1], int32(m.base[r])+p.sends[at][k])
			}
			for k := 1; k < len(p.receives[at]); k++ { // the buffer is free again
				last, next := int32(m.base[r])+p.receives[at][k-1], int32(m.base[r])+p.receives[at][k]
				m.precede(m.ends(last), m.mate[next])
			}
		}
	}
}

// ends is the event that ends a step.
func (m *machine) ends(i int32) int32 {
	if m.step(i).Act == Take {
		return m.mate[i]
	}
	return i
}

func (m *machine) precede(a, b int32) {
	m.then[a] = append(m.then[a], b)
	m.waits[b]++
}

// run lets events happen until none can.
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
		if err := m.happen(event); err != nil {
			return err
		}
		left--
		for _, next := range m.then[event] {
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

func (m *machine) stuck(left int) error {
	for i, n := range m.waits {
		if s := m.step(int32(i)); n > 0 && s.Act != Take {
			return fmt.Errorf("schedule: ranks wait for each other in a circle: %d events are left, one of them step %+v of rank %d", left, *s, m.owner[i])
		}
	}
	panic("BUG: schedule: events are left, but none waits")
}

// happen does one event.
func (m *machine) happen(i int32) error {
	s, o := m.step(i), &m.out
	lo, _ := slices.BinarySearch(o.cuts, s.Lo)
	hi, _ := slices.BinarySearch(o.cuts, s.Hi)
	row := o.held[m.owner[i]][lo:hi]
	if s.Act != Give {
		for c, x := range m.parcel[i] {
			if s.Own {
				row[c] = m.owner[i]
			}
			if row[c] == unset {
				return fmt.Errorf("schedule: rank %d joins something to nothing: step %+v", m.owner[i], *s)
			}
			if s.Act == Below {
				row[c] = o.join(x, row[c])
			} else {
				row[c] = o.join(row[c], x)
			}
		}
		m.parcel[i] = nil
		return nil
	}
	parcel := slices.Clone(row)
	for c := range parcel {
		if s.Own {
			parcel[c] = m.owner[i]
		}
		if parcel[c] == unset {
			return fmt.Errorf("schedule: rank %d gives what it does not have: step %+v", m.owner[i], *s)
		}
	}
	to := m.mate[i]
	if m.step(to).Act == Take {
		copy(o.held[m.owner[to]][lo:hi], parcel)
	} else {
		m.parcel[to] = parcel
	}
	return nil
}

func (o *Outcome) join(a, b int32) int32 {
	node, ok := o.known[[2]int32{a, b}]
	if !ok {
		node = int32(len(o.nodes))
		o.nodes = append(o.nodes, [2]int32{a, b})
		o.known[[2]int32{a, b}] = node
	}
	return node
}

// At is what rank holds. Ranges that it was never given are left out.
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

// Agree says whether all ranks hold the same.
func (o *Outcome) Agree() bool {
	for _, row := range o.held {
		if !slices.Equal(row, o.held[0]) {
			return false
		}
	}
	return true
}

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
