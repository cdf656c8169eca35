// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"

	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/malt/internal/carrier"
	"github.com/gvw-project/gvw/malt/internal/samehost"
)

// Config describes how a rank may write to the memory of others.
type Config struct {
	Rank           int
	Hosts          []string // addresses of all ranks by number, host:port; "": unknown
	NoSharedMemory bool     // write to no memory of ranks on the same machine
	Device         string   // name of the RDMA device; "": none, "auto": see verbs.Choose
	DeviceMemory   int64    // largest memory that is registered with the device, in bytes; 0: only the system limits it
	Encrypted      bool     // connections are encrypted, which RDMA cannot be
	Library        verbs.Library
	Log            *slog.Logger
}

// Access has the ways into the memory of the other ranks of an epoch.
type Access struct {
	cfg   Config
	hosts []string // of all ranks; "": unknown
	far   device   // nil: none
}

// device is an open RDMA device.
type device interface {
	Memory() carrier.Memory
	Limit(bytes int64)
	Close() error
}

// Open opens this rank's RDMA device if there should be one. A device that cannot be opened is logged: updates to
// other machines go over the network then.
func Open(cfg Config) *Access {
	a := &Access{cfg: cfg, hosts: make([]string, len(cfg.Hosts))}
	for rank, address := range cfg.Hosts {
		a.hosts[rank], _, _ = net.SplitHostPort(address) // an address without a port has no host here
	}
	if cfg.Device == "" {
		return a
	}
	far, err := a.openDevice()
	if err != nil {
		cfg.Log.Warn("updates to other machines go over TCP, without verbs", "rank", cfg.Rank, "err", err)
		return a
	}
	far.Limit(cfg.DeviceMemory)
	a.far = far
	return a
}

// openDevice opens the RDMA device that can reach the other ranks.
func (a *Access) openDevice() (device, error) {
	if a.cfg.Encrypted {
		return nil, errors.New("verbs: their bytes cannot be encrypted by TLS")
	}
	devices, err := a.cfg.Library.Devices()
	if err != nil {
		return nil, err
	}
	bound, _ := netip.ParseAddr(a.host(a.cfg.Rank)) // a name matches no device
	place, err := verbs.Choose(devices, a.cfg.Device, bound)
	if err != nil {
		return nil, err
	}
	return openFar(a.cfg.Library, place)
}

func (a *Access) host(rank int) string {
	if rank >= len(a.hosts) {
		return ""
	}
	return a.hosts[rank]
}

// Memory chooses the way into the memory of a rank; nil: there is none. Ranks with equal hosts may share a machine,
// which they then find out.
func (a *Access) Memory(rank int) carrier.Memory {
	own := a.host(a.cfg.Rank)
	switch {
	case !a.cfg.NoSharedMemory && own != "" && a.host(rank) == own:
		return samehost.New(samehost.System)
	case a.far != nil:
		return a.far.Memory()
	}
	return nil
}

// Close closes the device, after the carrier.
func (a *Access) Close() {
	if a.far == nil {
		return
	}
	if err := a.far.Close(); err != nil {
		a.cfg.Log.Warn("cannot close the RDMA device", "rank", a.cfg.Rank, "err", err)
	}
}
