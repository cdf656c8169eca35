// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/rand/v2"
	"testing"

	"github.com/gvw-project/gvw/allreduce/topo"
)

// Whatever arrives first, every rank ends with the sum of all, also of an empty vector.
func TestProgramsOfATreeSum(t *testing.T) {
	for n := 2; n <= 40; n++ {
		for _, size := range []int{0, 1, 7, 64} {
			rng := rand.New(rand.NewPCG(uint64(n), uint64(size)))
			ranks := make([]*simulated, n)
			for r := range ranks {
				ranks[r] = &simulated{vec: make([]uint64, size), links: map[int][][]uint64{}}
				for i := range ranks[r].vec {
					ranks[r].vec[i] = uint64(1)<<r | uint64(i)<<48
				}
				ranks[r].run.Start(PipelinedTree(topo.Binary(n), r, size), 1+rng.IntN(9))
			}
			shake(t, ranks, rng)
			for r, s := range ranks {
				if !s.run.Finished() {
					t.Fatalf("n %d, size %d: rank %d is not finished", n, size, r)
				}
				for i, got := range s.vec {
					if want := uint64(1)<<n - 1 + uint64(n*i)<<48; got != want {
						t.Fatalf("n %d: rank %d: element %d is %x, want %x", n, r, i, got, want)
					}
				}
			}
		}
	}
}

// simulated is a rank with links that hold what was sent to it, by sender.
type simulated struct {
	run   Run
	vec   []uint64
	links map[int][][]uint64
}

// shake lets random ranks do random things until nothing moves.
func shake(t *testing.T, ranks []*simulated, rng *rand.Rand) {
	t.Helper()
	for idle := 0; idle < 50*len(ranks); idle++ {
		r := rng.IntN(len(ranks))
		s := ranks[r]
		p := rng.IntN(len(s.run.prog.Peers))
		peer := s.run.prog.Peers[p]
		if m, ok := s.run.NextSend(p); ok && rng.IntN(2) == 0 {
			// Parts are as long as the sender likes: the receiver cuts its own, so send
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
