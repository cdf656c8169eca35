// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/internal/link"
)

// Transport carries bytes from one machine to another. All ranks of a job have the same.
//
//   - [TransportTCP] is TCP. It is the default.
//   - [TransportVerbs] is RDMA verbs. A rank that cannot use them ends the job.
//   - [TransportAuto] is verbs if all ranks can use them, and TCP otherwise. The log names
//     the choice.
type Transport uint8

// The transports, values of Config.Transport.
const (
	TransportTCP Transport = iota
	TransportVerbs
	TransportAuto
)

var transportNames = [...]string{TransportTCP: "tcp", TransportVerbs: "verbs", TransportAuto: "auto"}

func (t Transport) String() string {
	if int(t) >= len(transportNames) {
		return fmt.Sprintf("transport %d", uint8(t))
	}
	return transportNames[t]
}

// TransportNames returns the names that ParseTransport accepts.
func TransportNames() []string { return transportNames[:] }

// ParseTransport returns the transport with a name. It is the inverse of String.
func ParseTransport(name string) (Transport, error) {
	for t, n := range transportNames {
		if n == name {
			return Transport(t), nil
		}
	}
	return 0, fmt.Errorf("allreduce: transport %q is none of %v", name, transportNames)
}

// upgrade finds out whether all ranks can use verbs, and if so starts the upgrade of the edges
// from TCP. The tree's edges are open already. Others are upgraded when they open.
func (e *epoch) upgrade(ctx context.Context) error {
	g, en := e.group, &e.engine
	must := g.cfg.Transport == TransportVerbs
	switch {
	case g.cfg.Transport == TransportTCP || g.Size() == 1:
		return nil
	case g.Stream() && must:
		return &verbs.SetupError{Err: fmt.Errorf("rank %d: Transport is verbs, but vw workers are in the job, and they use only TCP", g.cfg.Rank)}
	case g.Stream():
		g.log.Info("transport: TCP, since vw workers are in the job", "rank", g.cfg.Rank)
		return nil
	}
	if g.busy.CompareAndSwap(false, true) { // else a collective has called Ready
		defer g.busy.Store(false)
	}
	d, err := e.openDomain()
	if err != nil && must {
		err = fmt.Errorf("transport verbs: %w", err)
		en.Fail(&engine.Failure{Code: engine.FaultGaveUp, By: g.cfg.Rank, Rank: g.cfg.Rank, Text: err.Error(), Err: err}, nil)
		return g.failed(ctx)
	}
	lacks := []uint64{math.MaxUint64} // the first rank without verbs, by a minimum over all ranks
	if err != nil {
		lacks[0] = uint64(g.cfg.Rank)
		g.log.Info("verbs are not available", "rank", g.cfg.Rank, "why", err)
	}
	if err := g.agree(ctx, lacks, Min, "verbs"); err != nil {
		e.closeDomain()
		return err
	}
	if lacks[0] != math.MaxUint64 {
		e.closeDomain()
		g.log.Info(fmt.Sprintf("transport: TCP, since rank %d cannot use verbs", lacks[0]), "rank", g.cfg.Rank)
		return nil
	}
	g.log.Info("transport: verbs over "+d.Place().String(), "rank", g.cfg.Rank)
	en.Upgrade(link.Verbs{Required: must, Open: func() (link.Stream, error) {
		s, err := d.NewStream()
		if err != nil {
			return nil, err // a nil interface, not a nil *verbs.Stream
		}
		return s, nil
	}})
	return nil
}

// openDomain opens this rank's device, and verifies that a stream can be made: a device may be
// listed and still refuse a queue pair or its memory.
func (e *epoch) openDomain() (*verbs.Domain, error) {
	g := e.group
	if c := g.cfg.Credentials; c != nil && c.TLS != nil {
		return nil, &verbs.SetupError{Err: errors.New("verbs: their bytes cannot be encrypted by TLS")}
	}
	if !e.engine.Driver.Upgrades() {
		return nil, errors.New("verbs: they need bare TCP connections on Linux, and the poll loop over them")
	}
	place, err := g.placeOf(e.wiring.Peers[g.cfg.Rank])
	if err != nil {
		return nil, err
	}
	d, err := verbs.NewDomain(g.cfg.library, place)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	e.domain = d
	g.mu.Unlock()
	s, err := d.NewStream()
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		e.closeDomain()
		return nil, err
	}
	if err := g.pinned.registerAll(d); err != nil {
		g.log.Warn("registered memory cannot be registered again, it will be copied to be sent", "rank", g.cfg.Rank, "error", err)
	}
	return d, nil
}

// closeDomain deregisters all memory and closes the device. No bytes may be in flight.
func (e *epoch) closeDomain() {
	g := e.group
	g.mu.Lock()
	d := e.domain
	e.domain = nil
	g.mu.Unlock()
	if d == nil {
		return
	}
	if direct, copied := d.Sent(); direct+copied > 0 {
		g.log.Info(fmt.Sprintf("over verbs: %d bytes sent from where they were, %d copied to be sent", direct, copied), "rank", g.cfg.Rank)
	}
	if err := d.Close(); err != nil {
		g.log.Error("cannot close the RDMA device", "rank", g.cfg.Rank, "error", err)
	}
}

// placeOf chooses this rank's device. addr is the host:port at which other ranks reach this one.
func (g *Group) placeOf(addr string) (verbs.Place, error) {
	devices, err := g.cfg.library.Devices()
	if err != nil {
		return verbs.Place{}, err
	}
	var bound netip.Addr
	if host, _, err := net.SplitHostPort(addr); err == nil {
		bound, _ = netip.ParseAddr(host) // a name matches no device
	}
	return verbs.Choose(devices, g.cfg.VerbsDevice, bound)
}

// checkVerbs returns why this rank cannot use verbs, as far as is known before the job is wired;
// nil if it may.
func (g *Group) checkVerbs(listener net.Addr) error {
	if _, err := g.placeOf(listener.String()); err != nil {
		return fmt.Errorf("transport verbs: %w", err)
	}
	return nil
}

// Verbs returns the RDMA device over which this rank's bytes go to other machines; "" if they go
// over TCP. It is valid after Ready.
func (g *Group) Verbs() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if d := g.domain; d != nil {
		return d.Place().String()
	}
	return ""
}
