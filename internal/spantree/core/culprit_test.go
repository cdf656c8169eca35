// SPDX-License-Identifier: Apache-2.0

package core

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// absent stands for the absence of a rank.
const absent = -1

// beat is the content of a rank's newest heartbeat.
type beat struct {
	in    uint64 // its collective; 0: none
	waits int
}

// The edge to charge, as a function of the ranks' newest heartbeats and ASKs. By default every rank
// has been in its state for long, and rank 0 sends ASK about its edge to rank 1.
func TestCulprit(t *testing.T) {
	const (
		now  = time.Minute // time since birth
		late = openWithin + time.Second
	)
	stalls := complaint{from: 0, to: 1, fault: protocol.EdgeStalls, collective: 5, at: birth.Add(now - time.Second)}
	opens, corrupts, gives := stalls, stalls, stalls
	opens.collective, corrupts.fault, gives.fault = 0, protocol.EdgeCorrupts, protocol.EdgeNoTransfer
	broke := func(from, to int, ago time.Duration) complaint {
		return complaint{from: from, to: to, fault: protocol.EdgeBroke, collective: 5, at: birth.Add(now - ago)}
	}
	work := beat{0, absent}
	for name, c := range map[string]struct {
		q         complaint
		beats     []beat        // of ranks 0, 1, …
		broke     map[int]int   // far end of the edge that a rank reports as broken, by rank
		silent    int           // rank without a heartbeat since the ASK; 0: none
		stayed    time.Duration // time that the ranks have been in their states; 0: long
		near, far int
		why       string
	}{
		"the neighbour waits for no rank":               {q: stalls, beats: []beat{{5, 1}, {5, absent}}, far: 1, why: "both are in collective 5"},
		"the neighbour waits for the rank that asks":    {q: stalls, beats: []beat{{5, 1}, {5, 0}}, far: 1, why: "both are in collective 5"},
		"the neighbour is past it":                      {q: stalls, beats: []beat{{5, 1}, {6, 2}, {6, absent}}, far: 1, why: "rank 1 is in collective 6 already"},
		"the neighbour is at work":                      {q: stalls, beats: []beat{{5, 1}, work}, near: absent, far: absent},
		"the neighbour is in an earlier collective":     {q: stalls, beats: []beat{{5, 1}, {4, absent}}, near: absent, far: absent},
		"nothing new is known of the neighbour":         {q: stalls, beats: []beat{{5, 1}, {5, absent}}, silent: 1, near: absent, far: absent},
		"the end of a chain":                            {q: stalls, beats: []beat{{5, 1}, {5, 2}, {5, 3}, {5, absent}}, near: 2, far: 3, why: "both are in collective 5"},
		"the end of a chain is at work":                 {q: stalls, beats: []beat{{5, 1}, {5, 2}, {5, 3}, {4, absent}}, near: absent, far: absent},
		"a chain into the unknown":                      {q: stalls, beats: []beat{{5, 1}, {5, 2}, {5, 3}, {5, absent}}, silent: 2, near: absent, far: absent},
		"a chain to a rank that is gone":                {q: stalls, beats: []beat{{5, 1}, {5, 7}}, near: absent, far: absent},
		"a ring":                                        {q: stalls, beats: []beat{{5, 1}, {5, 2}, {5, 0}}, near: 1, far: 2, why: "both are"},
		"a ring without the rank that asks":             {q: stalls, beats: []beat{{5, 1}, {5, 2}, {5, 3}, {5, 1}}, near: 2, far: 3, why: "both are"},
		"a rank that waits for itself":                  {q: stalls, beats: []beat{{5, 1}, {5, 1}}, far: 1, why: "both are"},
		"two far ranks wait for each other":             {q: stalls, beats: []beat{{5, 1}, {5, 2}, {5, 3}, {5, 2}}, near: 2, far: 3, why: "both are"},
		"the end of the chain reports a broken edge":    {q: stalls, beats: []beat{{5, 1}, {5, 2}, {5, 3}, {5, 2}}, broke: map[int]int{2: 3}, near: absent, far: absent},
		"bytes are corrupt":                             {q: corrupts, beats: []beat{{5, 1}, work}, far: 1},
		"a source gives nothing":                        {q: gives, beats: []beat{work, work}, far: 1},
		"an edge broke just now":                        {q: broke(0, 1, 900*time.Millisecond), beats: []beat{{5, 1}, work}, broke: map[int]int{0: 1}, near: absent, far: absent},
		"an edge broke":                                 {q: broke(0, 1, time.Second), beats: []beat{{5, 1}, work}, broke: map[int]int{0: 1}, far: 1},
		"both ends report it":                           {q: broke(0, 1, time.Second), beats: []beat{{5, 1}, {5, 0}}, broke: map[int]int{0: 1, 1: 0}, far: 1},
		"the far end lost another one before":           {q: broke(0, 1, time.Second), beats: []beat{{5, 1}, {5, 2}, {5, 1}}, broke: map[int]int{0: 1, 1: 2}, near: 1, far: 2},
		"and that one reports it, too":                  {q: broke(0, 1, time.Second), beats: []beat{{5, 1}, {5, 2}, {5, 1}}, broke: map[int]int{0: 1, 1: 2, 2: 1}, near: 1, far: 2},
		"a chain of broken edges":                       {q: broke(0, 1, time.Second), beats: []beat{{5, 1}, {5, 2}, {5, 3}, {5, 2}}, broke: map[int]int{0: 1, 1: 2, 2: 3, 3: 2}, near: 2, far: 3},
		"a ring of broken edges":                        {q: broke(0, 1, time.Second), beats: []beat{{5, 1}, {5, 2}, {5, 0}}, broke: map[int]int{0: 1, 1: 2, 2: 0}, near: 1, far: 2},
		"the neighbour lacks the rank that asks":        {q: stalls, beats: []beat{{5, 1}, {0, 0}}, far: 1, why: "has not opened"},
		"it may be about to meet it":                    {q: stalls, beats: []beat{{5, 1}, {0, 0}}, stayed: openWithin - time.Second, near: absent, far: absent},
		"it lacks one that takes it for open":           {q: stalls, beats: []beat{{5, 1}, {0, 2}, {5, 1}}, near: 1, far: 2, why: "has not opened"},
		"it lacks one that has just entered":            {q: stalls, beats: []beat{{5, 1}, {0, 2}, {5, 1}}, stayed: openWithin - time.Second, near: absent, far: absent},
		"it lacks one that lacks it":                    {q: stalls, beats: []beat{{5, 1}, {0, 2}, {0, 1}}, near: 1, far: 2, why: "has not opened"},
		"it lacks one that lacks another":               {q: stalls, beats: []beat{{5, 1}, {0, 2}, {0, 3}, {1, 2}}, near: 2, far: 3, why: "has not opened"},
		"it lacks one that is at work":                  {q: stalls, beats: []beat{{5, 1}, {0, 2}, work}, near: absent, far: absent},
		"it lacks one that is gone":                     {q: stalls, beats: []beat{{5, 1}, {0, 7}}, near: absent, far: absent},
		"a rank that opens lacks one at work":           {q: opens, beats: []beat{{0, 1}, work}, near: absent, far: absent},
		"a rank that opens lacks one that lacks it":     {q: opens, beats: []beat{{0, 1}, {0, 0}}, far: 1, why: "has not opened"},
		"a rank that opens lacks one in a collective":   {q: opens, beats: []beat{{0, 1}, {1, absent}}, far: 1, why: "has not opened"},
		"a rank that opens waits for one that waits":    {q: opens, beats: []beat{{0, 1}, {0, 2}, work}, near: absent, far: absent},
		"it is not known which connection a rank lacks": {q: opens, beats: []beat{work, {5, 0}}, near: absent, far: absent},
	} {
		t.Run(name, func(t *testing.T) {
			if c.stayed == 0 {
				c.stayed = late
			}
			g := &graph{now: birth.Add(now), nodes: map[int]node{}}
			for rank := range c.beats {
				n := node{heard: birth.Add(now), collective: c.beats[rank].in, waitsFor: c.beats[rank].waits, since: birth.Add(now - c.stayed), broke: absent}
				if c.silent == rank && rank > 0 {
					n.heard = c.q.at
				}
				if to, ok := c.broke[rank]; ok {
					n.broke = to
				}
				g.nodes[rank] = n
			}
			near, far, why := g.culprit(c.q)
			if near != c.near || far != c.far || !strings.Contains(why, c.why) || c.why == "" && why != "" {
				t.Errorf("the edge %d-%d is charged (%q), want %d-%d (%q)", near, far, why, c.near, c.far, c.why)
			}
		})
	}
}

// atWork reports whether the rank neither is in a collective nor opens a connection. Ranks that
// wait for it have no reason to complain.
func (n node) atWork() bool { return n.collective == 0 && n.waitsFor < 0 }

// Properties of any graph. The charged edge is between two ranks of the epoch. Its near end waits
// for the far end or reports it. A rank at work is never charged for a stall. The answer does not
// depend on the numbers of the ranks.
func TestCulpritOfArbitraryGraphs(t *testing.T) {
	charged := 0
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(2, 7).Draw(t, "size")
		instant := func(label string) time.Time {
			return birth.Add(time.Duration(rapid.IntRange(0, 6).Draw(t, label)) * 10 * time.Second)
		}
		other := func(label string) int { return rapid.IntRange(absent, size).Draw(t, label) } // size: not a member
		g := &graph{now: birth.Add(time.Minute), nodes: map[int]node{}}
		for rank := range size {
			g.nodes[rank] = node{
				heard: instant("heard"), collective: uint64(rapid.IntRange(0, 2).Draw(t, "collective")), waitsFor: other("waits for"),
				entered: instant("entered"), since: instant("since"), broke: absent,
			}
			if rapid.Bool().Draw(t, "reports") { // on another rank: the machine ignores an ASK about oneself
				n := g.nodes[rank]
				n.broke = (rank + rapid.IntRange(1, size-1).Draw(t, "broke")) % size
				g.nodes[rank] = n
			}
		}
		q := complaint{from: rapid.IntRange(0, size-1).Draw(t, "from"), fault: protocol.EdgeFault(rapid.IntRange(1, 4).Draw(t, "fault")), at: instant("asked")}
		q.to = (q.from + rapid.IntRange(1, size-1).Draw(t, "to")) % size
		q.collective = g.nodes[q.from].collective

		near, far, why := g.culprit(q)
		turn := rapid.IntRange(0, size-1).Draw(t, "turn")
		turned := func(rank int) int {
			if rank < 0 || rank >= size {
				return rank
			}
			return (rank + turn) % size
		}
		h := &graph{now: g.now, nodes: map[int]node{}}
		for rank, n := range g.nodes {
			n.waitsFor, n.broke = turned(n.waitsFor), turned(n.broke)
			h.nodes[turned(rank)] = n
		}
		p := q
		p.from, p.to = turned(q.from), turned(q.to)
		if n, f, _ := h.culprit(p); n != turned(near) || f != turned(far) {
			t.Errorf("the edge %d-%d is charged; after a rotation of the ranks by %d it is %d-%d", near, far, turn, n, f)
		}
		if near < 0 || far < 0 {
			if near != far || why != "" {
				t.Errorf("no edge is charged, and the answer is %d-%d (%q)", near, far, why)
			}
			return
		}
		charged++
		a, member := g.nodes[near]
		b, peer := g.nodes[far]
		if !member || near == far || !peer && q.fault == protocol.EdgeStalls {
			t.Errorf("the edge %d-%d is charged, which is not between two members", near, far)
		}
		if [2]int{near, far} != [2]int{q.from, q.to} && a.waitsFor != far && a.broke != far {
			t.Errorf("rank %d neither waits for rank %d nor reports it", near, far)
		}
		if q.fault == protocol.EdgeStalls && b.atWork() && !a.opens() {
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
	j := &job{epoch: protocol.Epoch{Term: 1, N: 1}, holders: map[int]*attempt{}}
	for rank := range 2 {
		a := &attempt{rank: rank}
		a.wired = j.epoch
		j.holders[rank] = a
	}
	asked := birth
	beat := func(rank, waitsFor int, collective uint64, after time.Duration) {
		a := j.holders[rank]
		a.waiting = a.waiting.next(waitsFor, collective, j.epoch, asked.Add(after))
	}
	ask := func(at time.Duration) int {
		_, far, _ := j.graph(asked.Add(at)).culprit(complaint{from: 0, to: 1, collective: 5, fault: protocol.EdgeStalls, at: asked.Add(at)})
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
