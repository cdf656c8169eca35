// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/rand/v2"
	"testing"
)

// In whatever order messages arrive and however steps are cut into parts, every rank
// ends with the sum of all contributions, also of an empty vector.
func TestProgramsSumInAnyOrder(t *testing.T) {
	for _, name := range Names {
		for n := 2; n <= 12; n++ {
			for _, size := range []int{0, 1, 7, 64} {
				sumInRandomOrder(t, Spec{Schedule: name, Size: n, Bytes: size, Chunk: 2})
			}
		}
	}
}

func sumInRandomOrder(t *testing.T, s Spec) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(s.Size), uint64(s.Bytes)))
	ranks := make([]*simulated, s.Size)
	for r := range ranks {
		ranks[r] = &simulated{vec: make([]uint64, s.Bytes), links: map[int][][]uint64{}}
		for i := range ranks[r].vec {
			ranks[r].vec[i] = uint64(1)<<r | uint64(i)<<48
		}
		ranks[r].run.Start(s.AllReduce(r), 1+rng.IntN(9))
	}
	moveRandomly(t, ranks, rng)
	for r, x := range ranks {
		if !x.run.Finished() {
			t.Fatalf("%+v: rank %d is not finished", s, r)
		}
		for i, got := range x.vec {
			if want := uint64(1)<<s.Size - 1 + uint64(s.Size*i)<<48; got != want {
				t.Fatalf("%+v: rank %d: element %d is %x, want %x", s, r, i, got, want)
			}
		}
	}
}

// simulated is a rank with the messages that were sent to it, by sender.
type simulated struct {
	run   Run
	vec   []uint64
	links map[int][][]uint64
}

// moveRandomly lets random ranks make random moves until no move is possible.
func moveRandomly(t *testing.T, ranks []*simulated, rng *rand.Rand) {
	t.Helper()
	for idle := 0; idle < 600*len(ranks); idle++ {
		r := rng.IntN(len(ranks))
		s := ranks[r]
		p := rng.IntN(len(s.run.prog.Peers))
		peer := s.run.prog.Peers[p]
		if m, ok := s.run.NextSend(p); ok && rng.IntN(2) == 0 {
			// The sender chooses the length of parts, and the receiver cuts its own. So send
			// element by element, and an empty message as one of no elements.
			to := ranks[peer]
			for i := m.Lo; i < m.Hi; i++ {
				to.links[r] = append(to.links[r], []uint64{s.vec[i]})
			}
			if m.Lo == m.Hi {
				to.links[r] = append(to.links[r], nil)
			}
			s.run.Sent(p)
			idle = 0
		}
		if m, ok := s.run.NextReceive(p); ok && len(s.links[peer]) >= max(1, m.Hi-m.Lo) {
			for i := m.Lo; i < m.Hi; i++ {
				x := s.links[peer][i-m.Lo][0]
				if m.Act == Take {
					s.vec[i] = x
				} else {
					s.vec[i] += x
				}
			}
			s.links[peer] = s.links[peer][max(1, m.Hi-m.Lo):]
			s.run.Received(p)
			idle = 0
		}
	}
}
