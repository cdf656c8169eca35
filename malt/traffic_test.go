// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"testing"

	"github.com/gvw-project/gvw/internal/monitor/traffic"
)

// A rank counts its rounds, and the bytes that it sends to each receiver, over connections and in mailboxes.
func TestCounts(t *testing.T) {
	onEach(t, func(t *testing.T, f fabric) {
		const ranks, rounds, length = 3, 40, 1 << 10
		j := f.job(t, ranks, Config{})
		var counts [ranks]*traffic.Counts
		j.must(func(g *Group) error {
			ctx := t.Context()
			v, err := NewVector[float32](g, "weights", length, VectorConfig{ObjectConfig: ObjectConfig{Graph: "all", Sync: "bsp"}})
			if err != nil {
				return err
			}
			for range rounds {
				if err := v.Scatter(ctx); err != nil {
					return err
				}
				if _, err := v.Gather(ctx, func(*Vector[float32], []Incoming[float32]) {}); err != nil {
					return err
				}
			}
			if err := g.Barrier(ctx); err != nil {
				return err
			}
			counts[g.Rank()] = g.counts()
			// With bsp each rank merges one update of each other one in each round.
			if got := v.Stats(); got.Merged < rounds*(ranks-1) || got.Behind > got.Merged*got.Oldest {
				t.Errorf("rank %d: got %+v, want %d merged updates", g.Rank(), got, rounds*(ranks-1))
			}
			var bytes uint64
			for _, e := range g.Traffic() {
				if e.Via == "" || e.Rank == g.Rank() || e.Rank < 0 || e.Rank >= ranks {
					t.Errorf("rank %d: got edge %+v", g.Rank(), e)
				}
				bytes += e.Sent
			}
			if least := uint64(rounds * 4 * length * (ranks - 1)); bytes < least {
				t.Errorf("rank %d: got %d bytes sent on all edges, want at least %d", g.Rank(), bytes, least)
			}
			return g.Barrier(ctx)
		})
		for rank, c := range counts {
			if c.Rounds.Sent != rounds || c.Rounds.Behind > rounds {
				t.Errorf("rank %d: got %+v, want %d rounds", rank, c.Rounds, rounds)
			}
			for to := range ranks {
				sent, received := c.Edge(to)
				if least := uint64(rounds * 4 * length); to != rank && (sent < least || received < least) {
					t.Errorf("rank %d has sent %d bytes to rank %d and received %d, want at least %d: %+v", rank, sent, to, received, least, c.Edges)
				}
			}
		}
	})
}
