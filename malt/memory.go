// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"errors"
	"net"
	"net/netip"

	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/malt/internal/carrier"
	"github.com/gvw-project/gvw/malt/internal/samehost"
)

// ways are the ways into the memory of the other ranks of an epoch.
type ways struct {
	g     *Group
	hosts []string // of all ranks; "": unknown
	far   device   // nil: none
}

// device is an open RDMA device.
type device interface {
	Memory() carrier.Memory
	Limit(bytes int64)
	Close() error
}

// ways opens this rank's RDMA device if there should be one. addresses are those of all ranks.
func (g *Group) ways(addresses []string) *ways {
	w := &ways{g: g, hosts: make([]string, len(addresses))}
	for rank, address := range addresses {
		w.hosts[rank], _, _ = net.SplitHostPort(address) // an address without a port has no host here
	}
	if g.cfg.Verbs == "" {
		return w
	}
	far, err := g.openDevice(w.host(g.cfg.Rank))
	if err != nil {
		g.cfg.Log.Warn("updates to other machines go over TCP, without verbs", "rank", g.cfg.Rank, "err", err)
		return w
	}
	far.Limit(g.cfg.VerbsMemory)
	w.far = far
	return w
}

// openDevice opens the RDMA device that can reach the other ranks, which reach this one at a host.
func (g *Group) openDevice(host string) (device, error) {
	if c := g.cfg.Credentials; c != nil && c.TLS != nil {
		return nil, errors.New("verbs: their bytes cannot be encrypted by TLS")
	}
	devices, err := g.cfg.library.Devices()
	if err != nil {
		return nil, err
	}
	bound, _ := netip.ParseAddr(host) // a name matches no device
	place, err := verbs.Choose(devices, g.cfg.Verbs, bound)
	if err != nil {
		return nil, err
	}
	return openFar(g.cfg.library, place)
}

func (w *ways) host(rank int) string {
	if rank >= len(w.hosts) {
		return ""
	}
	return w.hosts[rank]
}

// memory chooses the way into the memory of a rank; nil: there is none. Ranks with equal hosts may share a machine,
// which they then find out.
func (w *ways) memory(rank int) carrier.Memory {
	own := w.host(w.g.cfg.Rank)
	switch {
	case !w.g.cfg.NoSharedMemory && own != "" && w.host(rank) == own:
		return samehost.New(samehost.System)
	case w.far != nil:
		return w.far.Memory()
	}
	return nil
}

// close closes the device, after the carrier.
func (w *ways) close() {
	if w.far == nil {
		return
	}
	if err := w.far.Close(); err != nil {
		w.g.cfg.Log.Warn("cannot close the RDMA device", "rank", w.g.cfg.Rank, "err", err)
	}
}
