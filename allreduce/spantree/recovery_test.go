// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever happens to the ranks of a job, in any order: no rank has two holders
// in an epoch, no epoch begins before everybody is READY and has said how far
// it is, nothing that a live holder has completed is done again, BYE comes after
// the last file, and when nothing more happens the job ends, well for all.
func TestRecoveryKeepsItsPromises(t *testing.T) {
	finished, failed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := newStage(t, rapid.IntRange(1, 4).Draw(t, "total"), rapid.Uint64Range(1, 3).Draw(t, "steps"), lossWait,
			rapid.SampledFrom([]string{"", "run"}).Draw(t, "key"))
		for r := range s.total {
			s.enter(r)
		}
		for range rapid.IntRange(0, 150).Draw(t, "events") {
			s.happen(t)
			if s.ended {
				break
			}
		}
		s.settle()
		if s.end() {
			finished++
		} else {
			failed++
		}
	})
	t.Logf("%d jobs have finished, %d failed", finished, failed)
	if finished < 3*failed {
		t.Errorf("%d jobs have finished, %d failed", finished, failed)
	}
}

// happen lets one thing happen.
func (s *stage) happen(t *rapid.T) {
	i := rapid.IntRange(0, len(s.actors)-1).Draw(t, "who")
	a := s.actors[i]
	switch what := rapid.IntRange(0, 40).Draw(t, "what"); {
	case what == 0 && len(s.actors) < 14:
		s.enter(rapid.IntRange(0, s.total-1).Draw(t, "rank"))
	case what == 1 && !a.dead:
		s.die(a, true)
	case what == 2 && !a.dead:
		s.die(a, false)
	case what == 3 && a.dead && !a.cut:
		s.die(a, true)
	case what == 5 && !a.dead:
		s.reconnect(a, rapid.Bool().Draw(t, "heard"))
	case what == 6 && rapid.IntRange(0, 3).Draw(t, "really") == 0:
		s.restart(rapid.SampledFrom([]uint32{1, s.m.term + 1}).Draw(t, "term"))
	case what == 7 && !a.dead && a.cut && len(a.inbox) == 0:
		s.reconnect(a, true)
	case what == 8 && a.works() && len(a.outbox) == 0 && rapid.Bool().Draw(t, "really"):
		a.tell(&askFrame{Epoch: a.epoch, Peer: rapid.IntRange(0, s.total-1).Draw(t, "peer"), Fault: rapid.Uint8Range(1, 3).Draw(t, "fault")})
	case what == 4:
		s.pass(rapid.SampledFrom([]time.Duration{time.Second, 4 * time.Second, 11 * time.Second}).Draw(t, "time"))
	default:
		s.play(a)
	}
}

// play lets an actor do the next thing it can do.
func (s *stage) play(a *actor) {
	switch {
	case a.dead:
	case len(a.inbox) > 0 && s.conns%2 == 0 || len(a.inbox) > 3:
		s.read(a)
	case len(a.outbox) > 0:
		s.flush(a)
	case len(a.inbox) > 0:
		s.read(a)
	case !a.ready:
		a.ready = true
		a.say(&readyFrame{Shard: Shard{Examples: uint64(10 + a.rank)}})
	case a.lacks:
		s.fetch(a)
	case a.works() && !s.given[a.contribution(a.rank)]:
		s.give(a)
	case a.works():
		s.complete(a)
	case len(a.owes) > 0:
		a.say(&doneFrame{Epoch: a.epoch, Attempt: a.number, File: a.owes[0]})
		a.owes = a.owes[1:]
	}
}

// settle lets everybody go on, with an attempt for every rank, until the job ends.
func (s *stage) settle() {
	for round := 0; !s.ended; round++ {
		if round > 400 {
			s.fatalf("the job does not end: %v", s.m.status())
		}
		alive := make([]bool, s.total)
		for _, a := range s.actors {
			if !a.dead {
				alive[a.rank] = true
			}
		}
		for r, ok := range alive {
			if !ok {
				s.enter(r)
			}
		}
		for _, a := range s.actors {
			if !a.dead && a.cut && len(a.inbox) == 0 {
				s.reconnect(a, true) // the server has forgotten it
			}
			for range 4 {
				s.play(a)
			}
		}
		s.pass(time.Second)
	}
}

// end holds what is true of every end, and tells whether it is a good one.
func (s *stage) end() (well bool) {
	fates := map[string]int{}
	for _, a := range s.actors {
		for len(a.inbox) > 0 {
			s.read(a)
		}
		if !a.dead && !a.away {
			s.fatalf("connection %d of rank %d has no end", a.conn, a.rank)
		}
		fates[a.fate]++
	}
	if len(s.m.conns) > 0 || len(s.m.awaiting) > 0 {
		s.fatalf("%d connections and %d receipts are left", len(s.m.conns), len(s.m.awaiting))
	}
	if fates["BYE"] > 0 && fates["OVER"] > 0 {
		s.fatalf("some were told that all is well, some that it is not: %v", fmt.Sprint(fates))
	}
	return fates["BYE"] > 0
}
