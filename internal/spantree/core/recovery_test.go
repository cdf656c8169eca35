// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// TestRecoveryKeepsItsPromises checks a job under arbitrary events. No rank has two holders in an
// epoch. No epoch starts before all holders are READY and have sent their positions. No step that a
// live holder has completed is repeated. FINISHED follows the last file. When the events stop the
// job ends, with the same result for all ranks.
func TestRecoveryKeepsItsPromises(t *testing.T) {
	finished, failed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		// Not rapid's own generator, which prefers small numbers: here all numbers are equally
		// likely.
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		policy := []protocol.OnLoss{protocol.Wait, protocol.Wait, protocol.Shrink, protocol.Grow}[r.IntN(4)]
		s := newSimCluster(t, 1+r.IntN(4), uint64(1+r.IntN(5)), policy, []string{"", "run"}[r.IntN(2)])
		for rank := range s.total {
			s.enter(rank)
		}
		rough := r.IntN(4) * 2 // number of faults in 50 events
		for range rapid.IntRange(0, 600).Draw(t, "events") {
			if s.ended {
				break
			}
			s.happen(r, rough)
		}
		s.settle()
		if s.end() {
			finished++
		} else {
			failed++
		}
	})
	t.Logf("%d jobs have finished, %d failed", finished, failed)
	if finished < 2*failed {
		t.Errorf("%d jobs have finished, %d failed", finished, failed)
	}
}

// happen causes one event.
func (s *simCluster) happen(r *rand.Rand, rough int) {
	a := s.clients[r.IntN(len(s.clients))]
	if r.IntN(50) >= rough {
		if r.IntN(20) == 0 {
			s.pass(time.Second)
		}
		s.play(a)
		return
	}
	switch r.IntN(9) {
	case 0, 1:
		switch {
		case len(s.clients) >= 14:
		case s.policy == protocol.Wait && r.IntN(3) == 0:
			s.enter(-1)
		default:
			s.enter(r.IntN(s.total))
		}
	case 2:
		s.kill(a, !a.dead && r.IntN(2) == 0)
	case 3:
		if a.dead {
			s.kill(a, true)
		}
	case 4:
		s.pass([]time.Duration{4 * time.Second, 11 * time.Second}[r.IntN(2)])
	case 5:
		if !a.dead {
			s.reconnect(a, r.IntN(2) == 0)
		}
	case 6:
		if r.IntN(4) == 0 {
			s.restart([]uint32{1, s.m.Term + 1}[r.IntN(2)])
		}
	case 8:
		if s.gen < 2 && r.IntN(5) == 0 {
			s.gen++
		}
	case 7:
		if (a.works() || a.pulls) && len(a.outbox) == 0 {
			a.send(&protocol.AskFrame{Epoch: a.epoch, Peer: r.IntN(s.total), Fault: protocol.EdgeFault(1 + r.IntN(3))})
		}
	}
}

// play lets a client take its next action.
func (s *simCluster) play(a *fakeRank) {
	switch {
	case a.dead:
	case len(a.inbox) > 0 && s.conns%2 == 0 || len(a.inbox) > 3:
		s.read(a)
	case len(a.outbox) > 0:
		s.flush(a)
	case len(a.inbox) > 0:
		s.read(a)
	case a.rank < 0: // a spare
	case !a.ready:
		a.ready = true
		a.sendLogged(&protocol.ReadyFrame{Shard: protocol.Shard{Examples: uint64(10 + a.rank), Bytes: 1000, Took: a.pace}})
	case a.missing:
		s.fetch(a)
	case a.works() && !s.contributed[a.contribution(a.rank)]:
		s.contribute(a)
	case a.works():
		s.complete(a)
	case len(a.owed) > 0:
		a.sendLogged(&protocol.DeliveredFrame{Epoch: a.epoch, Attempt: a.number, File: a.owed[0]})
		a.owed = a.owed[1:]
	}
}

// settle lets all clients continue, with an attempt for each rank, until the job ends.
func (s *simCluster) settle() {
	for round := 0; !s.ended; round++ {
		if round > 400 {
			s.fatalf("the job has not ended: %v", s.m.Status())
		}
		alive := make([]bool, s.total)
		for _, a := range s.clients {
			if !a.dead && a.rank >= 0 {
				alive[a.rank] = true
			}
		}
		for r, ok := range alive {
			if !ok {
				s.enter(r)
			}
		}
		for _, a := range s.clients {
			if !a.dead && a.cut && len(a.inbox) == 0 {
				s.reconnect(a, true) // the restarted server does not know it
			}
			for range 4 {
				s.play(a)
			}
		}
		s.pass(time.Second)
	}
}

// end checks what holds for every end of a job, and reports whether it has finished.
func (s *simCluster) end() (well bool) {
	fates := map[string]int{}
	for _, a := range s.clients {
		for len(a.inbox) > 0 {
			s.read(a)
		}
		if !a.dead && !a.away {
			s.fatalf("connection %d of rank %d got no final frame", a.conn, a.rank)
		}
		fates[a.outcome]++
	}
	if len(s.m.Conns) > 0 || len(s.m.awaiting) > 0 {
		s.fatalf("%d connections and %d receipts are left", len(s.m.Conns), len(s.m.awaiting))
	}
	if fates["FINISHED"] > 0 && fates["EPOCH_END"] > 0 {
		s.fatalf("some ranks got FINISHED, others a failure: %v", fmt.Sprint(fates))
	}
	return fates["FINISHED"] > 0
}
