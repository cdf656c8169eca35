// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"context"
	"fmt"
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
)

// TestRoundsAllocateNothing: neither small nor large chunks allocate, over sockets and over rings.
func TestRoundsAllocateNothing(t *testing.T) {
	if sampled.UnderRace {
		t.Skip("invariants allocate")
	}
	for _, shared := range []bool{false, true} {
		for _, size := range []int{4, smallData + 1, 1 << 20} {
			t.Run(fmt.Sprintf("shared %v, %d bytes", shared, size), func(t *testing.T) {
				a, b := newPair(t, options{shared: shared, drops: true})
				const rounds = 50
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				round := func(r *rank, peer int) func() {
					send, expect := make([][][]byte, 2), []int{0, 0}
					chunks := [][]byte{make([]byte, size)}
					expect[peer] = 1
					return func() {
						send[peer] = chunks
						r.begin(send, expect)
						r.finish(ctx)
					}
				}
				first, second := round(a, 1), round(b, 0)
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					for range 10 + rounds + 1 {
						second()
					}
				}()
				for range 10 { // the upgrade to a ring, buffers
					first()
				}
				if n := testing.AllocsPerRun(rounds, first); n >= 1 {
					t.Errorf("a round allocates %v times", n)
				}
				<-ended
			})
		}
	}
}
