// SPDX-License-Identifier: Apache-2.0

package pace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/malt/graph"
)

// sim runs the machines of all ranks with messages that arrive late and in any
// order between different pairs of ranks, but in order within a pair.
type sim struct {
	c     Config
	apart bool // the ranks begin in different rounds
	rng   *rand.Rand
	ranks []*Pace
	step  []int // by rank: 0 computes, 1 waits to send, 2 waits to merge
	wires map[[2]int][]message
	// merged[a][b] are the rounds of b that a has merged.
	merged [][][]int
	dead   []bool
}

type message struct {
	kind  int
	round int
}

// The kinds of messages.
const (
	update = iota
	ack
	began
)

// newSim returns ranks that begin in c.Start, or up to ahead rounds later.
func newSim(t testing.TB, c Config, seed uint64, ahead int) *sim {
	s := &sim{c: c, rng: rand.New(rand.NewPCG(seed, 7)), wires: map[[2]int][]message{}}
	n := c.Graph.Size()
	s.step, s.dead = make([]int, n), make([]bool, n)
	for rank := range n {
		c.Rank, c.Start = rank, s.c.Start+s.rng.IntN(ahead+1)
		s.apart = s.apart || c.Start != s.c.Start
		p, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		s.ranks = append(s.ranks, p)
		s.merged = append(s.merged, make([][]int, n))
		for to := range n {
			if to != rank {
				s.wires[[2]int{rank, to}] = []message{{began, c.Start}}
			}
		}
	}
	return s
}

// choices returns what can happen next: a step of a rank, or a delivery.
func (s *sim) choices(rounds int) (ranks []int, wires [][2]int) {
	for rank, p := range s.ranks {
		switch {
		case s.dead[rank] || p.Round() >= rounds:
		case s.step[rank] == 0,
			s.step[rank] == 1 && len(p.BeforeSend()) == 0,
			s.step[rank] == 2 && len(p.BeforeMerge()) == 0:
			ranks = append(ranks, rank)
		}
	}
	for from := range s.ranks {
		for to := range s.ranks {
			if w := [2]int{from, to}; len(s.wires[w]) > 0 {
				wires = append(wires, w)
			}
		}
	}
	return ranks, wires
}

// run lets things happen at random until all ranks have completed some rounds, or nothing can happen.
func (s *sim) run(rounds int) error {
	for {
		ranks, wires := s.choices(rounds)
		if len(ranks)+len(wires) == 0 {
			break
		}
		if i := s.rng.IntN(len(ranks) + len(wires)); i < len(ranks) {
			if err := s.advance(ranks[i]); err != nil {
				return err
			}
		} else {
			s.deliver(wires[i-len(ranks)])
		}
	}
	for rank, p := range s.ranks {
		if !s.dead[rank] && p.Round() < rounds {
			return fmt.Errorf("deadlock: rank %d in round %d waits to send for %v, to merge for %v",
				rank, p.Round(), slices.Clone(p.BeforeSend()), p.BeforeMerge())
		}
	}
	return nil
}

// advance takes the next step of a rank.
func (s *sim) advance(rank int) error {
	p := s.ranks[rank]
	switch s.step[rank] {
	case 1:
		round := p.Round()
		for _, to := range p.Send() {
			s.wires[[2]int{rank, to}] = append(s.wires[[2]int{rank, to}], message{update, round})
		}
	case 2:
		round := p.Round()
		for _, from := range p.Merge() {
			s.wires[[2]int{rank, from}] = append(s.wires[[2]int{rank, from}], message{ack, round})
		}
		if err := s.invariants(rank, round); err != nil {
			return err
		}
	}
	s.step[rank] = (s.step[rank] + 1) % 3
	return nil
}

// invariants holds what the mode promises after a merge.
func (s *sim) invariants(rank, round int) error {
	for from := range s.ranks {
		sends := slices.Contains(s.c.Graph.Out(round, from), rank)
		newest := s.ranks[rank].arrived[from]
		switch {
		case s.dead[from]:
		case s.c.Mode == NotifyAck && sends && (newest < round || newest > round && !s.apart):
			return fmt.Errorf("rank %d merged round %d, and rank %d had sent up to round %d: an update was overwritten or is missing", rank, round, from, newest)
		case s.c.Mode == BSP && sends && newest < round:
			return fmt.Errorf("rank %d merged round %d without rank %d, whose newest is %d", rank, round, from, newest)
		case s.c.Mode == SSP && s.c.Graph.Period() == 1 && sends && newest < round-s.c.Bound:
			return fmt.Errorf("rank %d merged round %d with bound %d, and rank %d's newest is %d", rank, round, s.c.Bound, from, newest)
		}
	}
	return nil
}

func (s *sim) deliver(w [2]int) {
	m := s.wires[w][0]
	s.wires[w] = s.wires[w][1:]
	switch p := s.ranks[w[1]]; {
	case m.kind == ack:
		p.Acked(w[0], m.round)
	case m.kind == began:
		p.Began(w[0], m.round)
	case p.Arrived(w[0], m.round):
		back := [2]int{w[1], w[0]}
		s.wires[back] = append(s.wires[back], message{ack, m.round})
	}
}

// kill loses a rank; its messages that are under way still arrive.
func (s *sim) kill(rank int) {
	s.dead[rank] = true
	for _, p := range s.ranks {
		p.Lost(rank)
	}
}

// TestNoDeadlockOnAnySmallGraph runs NOTIFY-ACK and BSP on each strongly connected digraph.
func TestNoDeadlockOnAnySmallGraph(t *testing.T) {
	smallGraphs(t, 4)
}

// smallGraphs runs both modes on all strongly connected digraphs of up to some ranks.
func smallGraphs(t *testing.T, largest int) {
	for n := 1; n <= largest; n++ {
		count := 0
		for mask := uint32(0); mask < 1<<(n*(n-1)); mask++ {
			g := graphOf(n, mask)
			if g == nil {
				continue
			}
			count++
			for _, mode := range []Mode{NotifyAck, BSP} {
				if err := newSim(t, Config{Graph: g, Mode: mode}, uint64(mask), int(mask)%3).run(4); err != nil {
					t.Fatalf("%v on\n%v%v", mode, g, err)
				}
			}
		}
		if want := []int{0, 1, 1, 18, 1606, 565080}[n]; count != want {
			t.Errorf("%d ranks: tried %d strongly connected graphs, want %d", n, count, want)
		}
	}
}

// graphOf returns the digraph whose edges are the bits of mask, or nil if it is not strongly connected.
func graphOf(n int, mask uint32) *graph.Graph {
	if n == 1 {
		return graph.All(1)
	}
	var b strings.Builder
	for from := range n {
		for to := range n {
			if from == to {
				continue
			}
			if mask&1 == 1 {
				fmt.Fprintln(&b, from, to)
			}
			mask >>= 1
		}
	}
	g, err := graph.Read(strings.NewReader(b.String()), "mask", n)
	if err != nil {
		return nil
	}
	return g
}

// TestModesKeepTheirPromise runs all modes on named graphs with random delays and losses.
func TestModesKeepTheirPromise(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(rt, "n")
		g, err := graph.New(rapid.SampledFrom(graph.Names()).Draw(rt, "graph"), n)
		if err != nil {
			rt.Fatal(err)
		}
		c := Config{Graph: g, Mode: rapid.SampledFrom([]Mode{ASP, BSP, SSP, NotifyAck}).Draw(rt, "mode")}
		if c.Mode == SSP {
			c.Bound = rapid.IntRange(0, 3).Draw(rt, "bound")
		}
		c.Start = rapid.IntRange(0, 5).Draw(rt, "start")
		s := newSim(t, c, rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(0, 4).Draw(rt, "ahead"))
		rounds := c.Start + 12
		if n > 1 && rapid.Bool().Draw(rt, "loss") {
			if err := s.run(c.Start + rapid.IntRange(1, 8).Draw(rt, "until")); err != nil {
				rt.Fatal(err)
			}
			s.kill(rapid.IntRange(0, n-1).Draw(rt, "lost"))
		}
		if err := s.run(rounds); err != nil {
			rt.Fatalf("%v, %s of %d ranks: %v", c.Mode, g.Name(), n, err)
		}
	})
}

// TestBoundHoldsBackForerunners lets one rank stand still: its receivers stop at the bound.
func TestBoundHoldsBackForerunners(t *testing.T) {
	for _, c := range []struct {
		mode  Mode
		bound int
		want  int // the round in which the other rank waits
	}{
		{SSP, 0, 0}, {SSP, 3, 3}, {BSP, 0, 0}, {NotifyAck, 0, 0}, {ASP, 0, 100},
	} {
		s := newSim(t, Config{Graph: graph.All(2), Mode: c.mode, Bound: c.bound}, 1, 0)
		s.step[1] = 3 // never chosen
		if err := s.run(100); err == nil && c.mode != ASP {
			t.Errorf("%v:%d: rank 0 never waits", c.mode, c.bound)
		}
		if got := s.ranks[0].Round(); got != c.want {
			t.Errorf("%v:%d: rank 0 waits in round %d, want %d", c.mode, c.bound, got, c.want)
		}
	}
}

func TestAccepts(t *testing.T) {
	for _, c := range []struct {
		mode Mode
		want []bool // rounds 3 to 7, in round 5
	}{
		{ASP, []bool{true, true, true, true, true}},
		{BSP, []bool{true, true, true, false, false}},
		{NotifyAck, []bool{true, true, true, false, false}},
		{SSP, []bool{false, true, true, true, true}},
	} {
		config := Config{Graph: graph.All(3), Mode: c.mode, Start: 5}
		if c.mode == SSP {
			config.Bound = 1
		}
		p, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		var got []bool
		for round := 3; round <= 7; round++ {
			got = append(got, p.Accepts(1, round))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%v (-want +got):\n%s", c.mode, d)
		}
		p.Lost(1)
		if p.Accepts(1, 5) {
			t.Errorf("%v accepts an update of a lost rank", c.mode)
		}
	}
}

func TestParseMode(t *testing.T) {
	for text, want := range map[string]Config{
		"asp": {Mode: ASP}, "bsp": {Mode: BSP}, "notify_ack": {Mode: NotifyAck}, "ssp:0": {Mode: SSP}, "ssp:16": {Mode: SSP, Bound: 16},
	} {
		mode, bound, err := ParseMode(text)
		if err != nil || mode != want.Mode || bound != want.Bound {
			t.Errorf("%s: got %v, %d, %v", text, mode, bound, err)
		}
		if name, _, _ := strings.Cut(text, ":"); mode.String() != name {
			t.Errorf("%s: the mode's name is %v", text, mode)
		}
	}
	for _, text := range []string{"", "ssp", "ssp:", "ssp:-1", "ssp:x", "BSP"} {
		if _, _, err := ParseMode(text); err == nil {
			t.Errorf("%q is no synchrony, got no error", text)
		}
	}
}

func TestConfigReportsAllFaults(t *testing.T) {
	_, err := New(Config{Mode: 9, Bound: -1, Start: -2})
	want := "pace: no graph\npace: Mode(9): no such mode\n" +
		"pace: bound -1 with mode Mode(9): only ssp has one, of 0 rounds or more\npace: start -2: want 0 or more"
	if d := cmp.Diff(want, fmt.Sprint(err)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := New(Config{Graph: graph.Ring(3), Rank: 3, Mode: BSP, Bound: 2}); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v, want two faults: the rank and the bound", err)
	}
}

func TestRoundAllocatesNothing(t *testing.T) {
	p, err := New(Config{Graph: graph.Halton(8), Mode: NotifyAck})
	if err != nil {
		t.Fatal(err)
	}
	allocs := testing.AllocsPerRun(100, func() {
		round := p.Round()
		for _, to := range p.Send() {
			p.Acked(to, round)
		}
		for _, from := range []int{4, 6, 7} {
			p.Arrived(from, round)
		}
		p.Merge()
	})
	if allocs != 0 {
		t.Errorf("a round allocates %v times, want 0", allocs)
	}
}

// A rank is behind by the rounds since the newest update of its slowest sender.
func TestBehind(t *testing.T) {
	g, err := graph.New("all", 3)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(Config{Graph: g, Rank: 0, Mode: ASP})
	if err != nil {
		t.Fatal(err)
	}
	check := func(want int) {
		t.Helper()
		if got := p.Behind(); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	check(0)
	for range 5 {
		p.Send()
		p.Merge()
	}
	p.Arrived(1, 3)
	check(5) // nothing has come from rank 2
	p.Arrived(2, 6)
	check(1)
	p.Left(1)
	check(0)
}
