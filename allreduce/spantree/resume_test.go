// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Where an epoch resumes, and what its members need for it.
func TestOrigin(t *testing.T) {
	e := func(n uint32) Epoch { return Epoch{Term: 1, N: n} }
	now := e(3)
	type seat struct {
		wired, at Epoch
		step      uint64
		given     bool // it was sent the state of that step
		ckpt      uint64
	}
	for name, c := range map[string]struct {
		seats []seat
		from  point
		lacks []lack
	}{
		"nobody has anything":            {seats: []seat{{wired: now}, {}}},
		"all are at one point":           {seats: []seat{{now, e(3), 7, false, 0}, {now, e(3), 7, false, 0}}, from: point{e(3), 7}},
		"one is a step behind":           {[]seat{{now, e(3), 6, false, 0}, {now, e(3), 7, false, 0}}, point{e(3), 7}, []lack{{0, 1, lackResults}}},
		"one is behind by more":          {[]seat{{now, e(3), 5, false, 0}, {now, e(3), 7, false, 0}}, point{e(3), 7}, []lack{{0, 1, lackState}}},
		"one is new":                     {[]seat{{}, {now, e(3), 7, false, 0}}, point{e(3), 7}, []lack{{0, 1, lackState}}},
		"one is of an older epoch":       {[]seat{{e(2), e(2), 6, false, 0}, {now, e(3), 7, false, 0}}, point{e(3), 7}, []lack{{0, 1, lackState}}},
		"an older epoch's larger number": {[]seat{{e(2), e(2), 9, false, 0}, {now, e(3), 7, false, 0}}, point{e(3), 7}, []lack{{0, 1, lackState}}},
		"the lowest that has it is the source": {
			[]seat{{now, e(3), 6, false, 0}, {now, e(3), 7, false, 0}, {now, e(3), 7, false, 0}}, point{e(3), 7}, []lack{{0, 1, lackResults}},
		},
		"the lowest that has results, too": {
			[]seat{{now, e(3), 6, false, 0}, {now, e(3), 7, true, 0}, {now, e(3), 7, false, 0}}, point{e(3), 7}, []lack{{0, 2, lackResults}},
		},
		"there are no results to be had": {
			[]seat{{now, e(3), 6, false, 0}, {now, e(3), 7, true, 0}}, point{e(3), 7}, []lack{{0, 1, lackState}},
		},
		"a checkpoint":                 {[]seat{{now, Epoch{}, 0, false, 4}, {}}, point{step: 4}, []lack{{0, 0, lackCheckpoint}, {1, 0, lackState}}},
		"a checkpoint that is read":    {[]seat{{}, {now, Epoch{}, 4, true, 0}}, point{step: 4}, []lack{{0, 1, lackState}}},
		"a step wins over checkpoints": {[]seat{{now, e(1), 2, false, 9}, {now, Epoch{}, 4, true, 0}}, point{e(1), 2}, []lack{{1, 0, lackState}}},
	} {
		t.Run(name, func(t *testing.T) {
			j := &job{epoch: now, total: len(c.seats), seats: map[int]*attempt{}}
			for r, s := range c.seats {
				a := &attempt{job: j, rank: r}
				a.wired, a.at, a.checkpoint = s.wired, point{s.at, s.step}, s.ckpt
				if s.given {
					a.given = a.at
				}
				j.seats[r] = a
			}
			from, lacks := j.origin()
			if from != c.from {
				t.Errorf("it resumes at %v, want %v", from, c.from)
			}
			if d := cmp.Diff(c.lacks, lacks); d != "" {
				t.Errorf("lacks, -want +got:\n%s", d)
			}
		})
	}
}

// Which edge is to blame, by what heartbeats say. Rank 0 asks about its edge to
// rank 1, in collective 5; each other rank says in which it is, and for whom it
// waits.
func TestCulprit(t *testing.T) {
	asked := birth
	type beat struct {
		in, waits int
		old       bool // sent before the question
	}
	for name, c := range map[string]struct {
		fault     uint8
		after     time.Duration
		beats     []beat // of ranks 1, 2, …
		near, far int
	}{
		"the neighbour waits for nobody":        {faultStalls, 0, []beat{{5, nobody, false}}, 0, 1},
		"the neighbour waits for who asks":      {faultStalls, 0, []beat{{5, 0, false}}, 0, 1},
		"the neighbour is past it":              {faultStalls, 0, []beat{{6, 2, false}, {6, nobody, false}}, 0, 1},
		"the neighbour is at work":              {faultStalls, 0, []beat{{0, nobody, false}}, nobody, nobody},
		"nothing new is known of the neighbour": {faultStalls, 0, []beat{{5, nobody, true}}, nobody, nobody},
		"the end of a chain":                    {faultStalls, 0, []beat{{5, 2, false}, {5, 3, false}, {5, nobody, false}}, 2, 3},
		"the end of a chain is at work":         {faultStalls, 0, []beat{{5, 2, false}, {5, 3, false}, {4, nobody, false}}, nobody, nobody},
		"a chain into the unknown":              {faultStalls, 0, []beat{{5, 2, false}, {5, 3, true}, {5, nobody, false}}, nobody, nobody},
		"a chain to a rank that is gone":        {faultStalls, 0, []beat{{5, 7, false}}, nobody, nobody},
		"a ring":                                {faultStalls, 0, []beat{{5, 2, false}, {5, 0, false}}, 1, 2},
		"a ring without who asks":               {faultStalls, 0, []beat{{5, 2, false}, {5, 3, false}, {5, 1, false}}, 2, 3},
		"waiting for itself":                    {faultStalls, 0, []beat{{5, 1, false}}, 0, 1},
		"it garbles":                            {faultGarbles, 0, []beat{{0, nobody, true}}, 0, 1},
		"it broke just now":                     {faultBroke, 900 * time.Millisecond, []beat{{0, nobody, true}}, nobody, nobody},
		"it broke":                              {faultBroke, time.Second, []beat{{0, nobody, true}}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			j := &job{epoch: Epoch{Term: 1, N: 1}, seats: map[int]*attempt{0: {rank: 0}}}
			j.seats[0].wired = j.epoch
			for i, b := range c.beats {
				a := &attempt{rank: i + 1, waiting: waiting{waitsFor: b.waits, collective: uint64(b.in), epoch: j.epoch, at: asked.Add(time.Second), since: asked}}
				if b.old {
					a.waiting.at = asked
				}
				a.wired = j.epoch
				j.seats[a.rank] = a
			}
			near, far := j.culprit(question{from: j.seats[0], peer: j.seats[1], collective: 5, fault: c.fault, at: asked}, asked.Add(c.after), map[link]bool{})
			charged(t, near, far, c.near, c.far)
		})
	}
}

// nobody is no rank: none is waited for, or charged.
const nobody = -1

// charged wants that the edge between two ranks is charged, or nobody.
func charged(t *testing.T, near, far *attempt, wantNear, wantFar int) {
	t.Helper()
	rank := func(a *attempt) int {
		if a == nil {
			return nobody
		}
		return a.rank
	}
	if rank(near) != wantNear || rank(far) != wantFar {
		t.Errorf("the edge %d-%d is charged, want %d-%d", rank(near), rank(far), wantNear, wantFar)
	}
}

// Who lacks a connection says so while it opens those of its epoch, in no collective: it is not
// at work. Between two ranks that live it takes no longer than openWithin.
func TestWhoLacksAConnection(t *testing.T) {
	const (
		soon = openWithin - time.Second
		late = openWithin + time.Second
	)
	type beat struct {
		in    uint64
		waits int
	}
	asks := []beat{{5, 1}, {0, 1}} // in a collective, or while it opens connections
	for name, c := range map[string]struct {
		asks      beat
		after     time.Duration // that all have said the same
		beats     []beat        // of ranks 1, 2, …
		near, far int
	}{
		"the neighbour lacks who asks":                  {asks[0], late, []beat{{0, 0}}, 0, 1},
		"it may be about to meet it":                    {asks[0], soon, []beat{{0, 0}}, nobody, nobody},
		"it lacks one that takes it for open":           {asks[0], late, []beat{{0, 2}, {5, 1}}, 1, 2},
		"that has just entered":                         {asks[0], soon, []beat{{0, 2}, {5, 1}}, nobody, nobody},
		"it lacks one that lacks it":                    {asks[0], late, []beat{{0, 2}, {0, 1}}, 1, 2},
		"it lacks one that lacks another":               {asks[0], late, []beat{{0, 2}, {0, 3}, {1, 2}}, 2, 3},
		"it lacks one that is at work":                  {asks[0], late, []beat{{0, 2}, {0, nobody}}, nobody, nobody},
		"it lacks one that is gone":                     {asks[0], late, []beat{{0, 7}}, nobody, nobody},
		"who asks lacks one that is at work":            {asks[1], late, []beat{{0, nobody}}, nobody, nobody},
		"who asks lacks one that lacks it":              {asks[1], late, []beat{{0, 0}}, 0, 1},
		"who asks lacks one that takes it for open":     {asks[1], late, []beat{{1, nobody}}, 0, 1},
		"who asks lacks one that waits for who is slow": {asks[1], late, []beat{{0, 2}, {0, nobody}}, nobody, nobody},
		"what who asks lacks is not known":              {beat{0, nobody}, late, []beat{{5, 0}}, nobody, nobody},
	} {
		t.Run(name, func(t *testing.T) {
			j := &job{epoch: Epoch{Term: 1, N: 1}, seats: map[int]*attempt{}}
			for i, b := range append([]beat{c.asks}, c.beats...) {
				a := &attempt{rank: i}
				a.wired = j.epoch
				a.waiting = a.waiting.next(b.waits, b.in, j.epoch, birth).next(b.waits, b.in, j.epoch, birth.Add(c.after))
				j.seats[i] = a
			}
			near, far := j.culprit(question{from: j.seats[0], peer: j.seats[1], collective: c.asks.in, fault: faultStalls, at: birth.Add(c.after - time.Millisecond)}, birth.Add(c.after), map[link]bool{})
			charged(t, near, far, c.near, c.far)
		})
	}
}

// A rank that enters the collective after it was asked about is not to blame, though for a moment
// it and its neighbour wait for each other: only if it is asked about again.
func TestWhoHasJustEntered(t *testing.T) {
	j := &job{epoch: Epoch{Term: 1, N: 1}, seats: map[int]*attempt{}}
	for rank := range 2 {
		a := &attempt{rank: rank}
		a.wired = j.epoch
		j.seats[rank] = a
	}
	asked := birth
	beat := func(rank, waitsFor int, collective uint64, after time.Duration) {
		a := j.seats[rank]
		a.waiting = a.waiting.next(waitsFor, collective, j.epoch, asked.Add(after))
	}
	ask := func(at time.Duration) *attempt {
		q := question{from: j.seats[0], peer: j.seats[1], collective: 5, fault: faultStalls, at: asked.Add(at)}
		_, far := j.culprit(q, asked.Add(at), map[link]bool{})
		return far
	}
	beat(0, 1, 5, -time.Second)
	beat(1, -1, 0, -time.Second)
	beat(0, 1, 5, time.Second)
	beat(1, 0, 5, time.Second)
	if far := ask(0); far != nil {
		t.Errorf("rank %d is to blame, and has just entered", far.rank)
	}
	beat(0, 1, 5, 3*time.Second)
	beat(1, 0, 5, 3*time.Second)
	if far := ask(0); far != nil {
		t.Errorf("rank %d is to blame for what was asked before it entered", far.rank)
	}
	if far := ask(2 * time.Second); far != j.seats[1] {
		t.Error("nobody is to blame for what was asked when both had entered")
	}
}
