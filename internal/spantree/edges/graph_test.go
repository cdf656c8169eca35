// SPDX-License-Identifier: Apache-2.0

package edges

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// birth is the time at which the tests begin.
var birth = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// absent stands for the absence of a rank.
const absent = -1

// beat is the content of a rank's newest heartbeat.
type beat struct {
	in    uint64 // its collective; 0: none
	waits int
}

// The edge to charge, as a function of the ranks' newest heartbeats and ASKs. By default every rank
// has been in its state for long, and rank 0 sends ASK about its edge to rank 1.
func TestCharge(t *testing.T) {
	const (
		now  = time.Minute // time since birth
		late = openWithin + time.Second
	)
	stalls := Ask{From: 0, To: 1, Fault: protocol.EdgeStalls, Collective: 5, At: birth.Add(now - time.Second)}
	opens, corrupts, noTransfer := stalls, stalls, stalls
	opens.Collective, corrupts.Fault, noTransfer.Fault = 0, protocol.EdgeCorrupts, protocol.EdgeNoTransfer
	broke := func(from, to int, ago time.Duration) Ask {
		return Ask{From: from, To: to, Fault: protocol.EdgeBroke, Collective: 5, At: birth.Add(now - ago)}
	}
	work := beat{0, absent}
	for name, c := range map[string]struct {
		q         Ask
		beats     []beat        // of ranks 0, 1, …
		broke     map[int]int   // far end of the edge that a rank reports as broken, by rank
		silent    int           // rank without a heartbeat since the ASK; 0: none
		stayed    time.Duration // time that the ranks have been in their states; 0: long
		near, far int
		why       string
	}{
		"the neighbour waits for no rank":                {q: stalls, beats: []beat{{5, 1}, {5, absent}}, far: 1, why: "both are in collective 5"},
		"the neighbour waits for the rank that asks":     {q: stalls, beats: []beat{{5, 1}, {5, 0}}, far: 1, why: "both are in collective 5"},
		"the neighbour is past it":                       {q: stalls, beats: []beat{{5, 1}, {6, 2}, {6, absent}}, far: 1, why: "rank 1 is in collective 6 already"},
		"the neighbour is at work":                       {q: stalls, beats: []beat{{5, 1}, work}, near: absent, far: absent},
		"the neighbour is in an earlier collective":      {q: stalls, beats: []beat{{5, 1}, {4, absent}}, near: absent, far: absent},
		"nothing new is known of the neighbour":          {q: stalls, beats: []beat{{5, 1}, {5, absent}}, silent: 1, near: absent, far: absent},
		"the end of a chain":                             {q: stalls, beats: []beat{{5, 1}, {5, 2}, {5, 3}, {5, absent}}, near: 2, far: 3, why: "both are in collective 5"},
		"the end of a chain is at work":                  {q: stalls, beats: []beat{{5, 1}, {5, 2}, {5, 3}, {4, absent}}, near: absent, far: absent},
		"a chain into the unknown":                       {q: stalls, beats: []beat{{5, 1}, {5, 2}, {5, 3}, {5, absent}}, silent: 2, near: absent, far: absent},
		"a chain to a rank that is no member":            {q: stalls, beats: []beat{{5, 1}, {5, 7}}, near: absent, far: absent},
		"a ring":                                         {q: stalls, beats: []beat{{5, 1}, {5, 2}, {5, 0}}, near: 1, far: 2, why: "both are"},
		"a ring without the rank that asks":              {q: stalls, beats: []beat{{5, 1}, {5, 2}, {5, 3}, {5, 1}}, near: 2, far: 3, why: "both are"},
		"a rank that waits for itself":                   {q: stalls, beats: []beat{{5, 1}, {5, 1}}, far: 1, why: "both are"},
		"two far ranks wait for each other":              {q: stalls, beats: []beat{{5, 1}, {5, 2}, {5, 3}, {5, 2}}, near: 2, far: 3, why: "both are"},
		"the end of the chain reports a broken edge":     {q: stalls, beats: []beat{{5, 1}, {5, 2}, {5, 3}, {5, 2}}, broke: map[int]int{2: 3}, near: absent, far: absent},
		"bytes are corrupt":                              {q: corrupts, beats: []beat{{5, 1}, work}, far: 1},
		"a transfer makes no progress":                   {q: noTransfer, beats: []beat{work, work}, far: 1},
		"an edge broke just now":                         {q: broke(0, 1, 900*time.Millisecond), beats: []beat{{5, 1}, work}, broke: map[int]int{0: 1}, near: absent, far: absent},
		"an edge broke":                                  {q: broke(0, 1, time.Second), beats: []beat{{5, 1}, work}, broke: map[int]int{0: 1}, far: 1},
		"both ends report it":                            {q: broke(0, 1, time.Second), beats: []beat{{5, 1}, {5, 0}}, broke: map[int]int{0: 1, 1: 0}, far: 1},
		"the far end lost another one before":            {q: broke(0, 1, time.Second), beats: []beat{{5, 1}, {5, 2}, {5, 1}}, broke: map[int]int{0: 1, 1: 2}, near: 1, far: 2},
		"and that one reports it, too":                   {q: broke(0, 1, time.Second), beats: []beat{{5, 1}, {5, 2}, {5, 1}}, broke: map[int]int{0: 1, 1: 2, 2: 1}, near: 1, far: 2},
		"a chain of broken edges":                        {q: broke(0, 1, time.Second), beats: []beat{{5, 1}, {5, 2}, {5, 3}, {5, 2}}, broke: map[int]int{0: 1, 1: 2, 2: 3, 3: 2}, near: 2, far: 3},
		"a ring of broken edges":                         {q: broke(0, 1, time.Second), beats: []beat{{5, 1}, {5, 2}, {5, 0}}, broke: map[int]int{0: 1, 1: 2, 2: 0}, near: 1, far: 2},
		"the neighbour misses the rank that asks":        {q: stalls, beats: []beat{{5, 1}, {0, 0}}, far: 1, why: "has not opened"},
		"the handshake may be under way":                 {q: stalls, beats: []beat{{5, 1}, {0, 0}}, stayed: openWithin - time.Second, near: absent, far: absent},
		"it misses one that considers it open":           {q: stalls, beats: []beat{{5, 1}, {0, 2}, {5, 1}}, near: 1, far: 2, why: "has not opened"},
		"it misses one that has just entered":            {q: stalls, beats: []beat{{5, 1}, {0, 2}, {5, 1}}, stayed: openWithin - time.Second, near: absent, far: absent},
		"it misses one that misses it":                   {q: stalls, beats: []beat{{5, 1}, {0, 2}, {0, 1}}, near: 1, far: 2, why: "has not opened"},
		"it misses one that misses another":              {q: stalls, beats: []beat{{5, 1}, {0, 2}, {0, 3}, {1, 2}}, near: 2, far: 3, why: "has not opened"},
		"it misses one that is at work":                  {q: stalls, beats: []beat{{5, 1}, {0, 2}, work}, near: absent, far: absent},
		"it misses one that is no member":                {q: stalls, beats: []beat{{5, 1}, {0, 7}}, near: absent, far: absent},
		"a rank that opens misses one at work":           {q: opens, beats: []beat{{0, 1}, work}, near: absent, far: absent},
		"a rank that opens misses one that misses it":    {q: opens, beats: []beat{{0, 1}, {0, 0}}, far: 1, why: "has not opened"},
		"a rank that opens misses one in a collective":   {q: opens, beats: []beat{{0, 1}, {1, absent}}, far: 1, why: "has not opened"},
		"a rank that opens waits for one that waits":     {q: opens, beats: []beat{{0, 1}, {0, 2}, work}, near: absent, far: absent},
		"it is not known which connection a rank misses": {q: opens, beats: []beat{work, {5, 0}}, near: absent, far: absent},
	} {
		t.Run(name, func(t *testing.T) {
			if c.stayed == 0 {
				c.stayed = late
			}
			g := &Graph{Now: birth.Add(now), Nodes: map[int]Node{}}
			for rank := range c.beats {
				n := Node{BeatAt: birth.Add(now), Collective: c.beats[rank].in, WaitsFor: c.beats[rank].waits, Since: birth.Add(now - c.stayed), Broke: absent}
				if c.silent == rank && rank > 0 {
					n.BeatAt = c.q.At
				}
				if to, ok := c.broke[rank]; ok {
					n.Broke = to
				}
				g.Nodes[rank] = n
			}
			near, far, why := g.Charge(c.q)
			if near != c.near || far != c.far || !strings.Contains(why, c.why) || c.why == "" && why != "" {
				t.Errorf("the edge %d-%d is charged (%q), want %d-%d (%q)", near, far, why, c.near, c.far, c.why)
			}
		})
	}
}

// atWork reports whether the rank neither is in a collective nor opens a connection. Ranks that
// wait for it have no reason to complain.
func (n Node) atWork() bool { return n.Collective == 0 && n.WaitsFor < 0 }

// Properties of any graph. The charged edge is between two ranks of the epoch. Its near end waits
// for the far end or reports it. A rank at work is never charged for a stall. The answer does not
// depend on the numbers of the ranks.
func TestChargeOfArbitraryGraphs(t *testing.T) {
	charged := 0
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(2, 7).Draw(t, "size")
		instant := func(label string) time.Time {
			return birth.Add(time.Duration(rapid.IntRange(0, 6).Draw(t, label)) * 10 * time.Second)
		}
		other := func(label string) int { return rapid.IntRange(absent, size).Draw(t, label) } // size: not a member
		g := &Graph{Now: birth.Add(time.Minute), Nodes: map[int]Node{}}
		for rank := range size {
			g.Nodes[rank] = Node{
				BeatAt: instant("beat at"), Collective: uint64(rapid.IntRange(0, 2).Draw(t, "collective")), WaitsFor: other("waits for"),
				Entered: instant("entered"), Since: instant("since"), Broke: absent,
			}
			if rapid.Bool().Draw(t, "reports") { // on another rank: the machine ignores an ASK about oneself
				n := g.Nodes[rank]
				n.Broke = (rank + rapid.IntRange(1, size-1).Draw(t, "broke")) % size
				g.Nodes[rank] = n
			}
		}
		q := Ask{From: rapid.IntRange(0, size-1).Draw(t, "from"), Fault: protocol.EdgeFault(rapid.IntRange(1, 4).Draw(t, "fault")), At: instant("asked")}
		q.To = (q.From + rapid.IntRange(1, size-1).Draw(t, "to")) % size
		q.Collective = g.Nodes[q.From].Collective

		near, far, why := g.Charge(q)
		turn := rapid.IntRange(0, size-1).Draw(t, "turn")
		turned := func(rank int) int {
			if rank < 0 || rank >= size {
				return rank
			}
			return (rank + turn) % size
		}
		h := &Graph{Now: g.Now, Nodes: map[int]Node{}}
		for rank, n := range g.Nodes {
			n.WaitsFor, n.Broke = turned(n.WaitsFor), turned(n.Broke)
			h.Nodes[turned(rank)] = n
		}
		p := q
		p.From, p.To = turned(q.From), turned(q.To)
		if n, f, _ := h.Charge(p); n != turned(near) || f != turned(far) {
			t.Errorf("the edge %d-%d is charged; after a rotation of the ranks by %d it is %d-%d", near, far, turn, n, f)
		}
		if near < 0 || far < 0 {
			if near != far || why != "" {
				t.Errorf("no edge is charged, and the answer is %d-%d (%q)", near, far, why)
			}
			return
		}
		charged++
		a, member := g.Nodes[near]
		b, peer := g.Nodes[far]
		if !member || near == far || !peer && q.Fault == protocol.EdgeStalls {
			t.Errorf("the edge %d-%d is charged, which is not between two members", near, far)
		}
		if [2]int{near, far} != [2]int{q.From, q.To} && a.WaitsFor != far && a.Broke != far {
			t.Errorf("rank %d neither waits for rank %d nor reports it", near, far)
		}
		if q.Fault == protocol.EdgeStalls && b.atWork() && !a.opens() {
			t.Errorf("rank %d is charged, and at work: %+v", far, b)
		}
	})
	if charged == 0 {
		t.Error("no edge was charged at all")
	}
}

// A rank that enters the collective after the ASK is not charged, although it and its neighbour wait
// for each other for a moment. Another ASK may charge it.
func TestNoChargeJustAfterEntry(t *testing.T) {
	epoch, asked := protocol.Epoch{Term: 1, N: 1}, birth
	var ranks [2]Waits
	beat := func(rank, waitsFor int, collective uint64, after time.Duration) {
		ranks[rank] = ranks[rank].Next(waitsFor, collective, epoch, asked.Add(after))
	}
	ask := func(at time.Duration) int {
		g := Graph{Now: asked.Add(at), Nodes: map[int]Node{0: ranks[0].Node(epoch), 1: ranks[1].Node(epoch)}}
		_, far, _ := g.Charge(Ask{From: 0, To: 1, Collective: 5, Fault: protocol.EdgeStalls, At: asked.Add(at)})
		return far
	}
	beat(0, 1, 5, -time.Second)
	beat(1, -1, 0, -time.Second)
	beat(0, 1, 5, time.Second)
	beat(1, 0, 5, time.Second)
	if far := ask(0); far >= 0 {
		t.Errorf("rank %d is charged just after it has entered", far)
	}
	beat(0, 1, 5, 3*time.Second)
	beat(1, 0, 5, 3*time.Second)
	if far := ask(0); far >= 0 {
		t.Errorf("rank %d is charged by an ASK from before it entered", far)
	}
	if far := ask(2 * time.Second); far != 1 {
		t.Error("no rank is charged by an ASK from after both had entered")
	}
}
