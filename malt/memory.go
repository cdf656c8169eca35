// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"net"

	"github.com/gvw-project/gvw/malt/internal/carrier"
	"github.com/gvw-project/gvw/malt/internal/samehost"
)

// memory returns the function that chooses the way into the memory of a rank. addresses are those of all ranks.
// Ranks with equal hosts may share a machine, which they then find out.
func (g *Group) memory(addresses []string) func(rank int) carrier.Memory {
	host := func(rank int) string {
		if rank >= len(addresses) {
			return ""
		}
		h, _, _ := net.SplitHostPort(addresses[rank]) // an address without a port has no host here
		return h
	}
	own := host(g.cfg.Rank)
	return func(rank int) carrier.Memory {
		if g.cfg.NoSharedMemory || own == "" || host(rank) != own {
			return nil
		}
		return samehost.New(samehost.System)
	}
}
