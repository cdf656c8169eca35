// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"slices"

	"github.com/gvw-project/gvw/internal/members"
)

// Members returns the ranks that take part now, ascending.
func (g *Group) Members() []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.live)
}

// Epoch returns the number of memberships that this rank has been in, 1 or more. A program that calls it
// once a round notices a change of the members.
func (g *Group) Epoch() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.epochs
}

// Shares returns the shares of the data that this rank works on now, ascending. Share i is that of rank i. Each share
// of a lost rank belongs to the next rank that takes part, so that a further loss moves only the shares of the rank
// that is lost. A program whose input all ranks can read takes them over when Epoch changes; one
// whose input is local continues with its own share.
func (g *Group) Shares() []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return sharesOf(g.live, g.cfg.Rank, g.cfg.Total)
}

// sharesOf implements Shares.
func sharesOf(live members.Set, rank, total int) (shares []int) {
	for share := range total {
		owner := share
		for live.Position(owner) < 0 {
			owner = (owner + 1) % total
		}
		if owner == rank {
			shares = append(shares, share)
		}
	}
	return shares
}
