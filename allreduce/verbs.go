// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/rdma"
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
	err := e.openDevice()
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
		e.closeDevice()
		return err
	}
	if lacks[0] != math.MaxUint64 {
		e.closeDevice()
		g.log.Info(fmt.Sprintf("transport: TCP, since rank %d cannot use verbs", lacks[0]), "rank", g.cfg.Rank)
		return nil
	}
	g.log.Info("transport: verbs over "+g.device.String(), "rank", g.cfg.Rank)
	en.Upgrade(link.Verbs{Required: must, Open: func() (link.Stream, error) {
		s, err := g.device.NewStream()
		if err != nil {
			return nil, err // a nil interface, not a nil *verbs.Stream
		}
		return s, nil
	}})
	return nil
}

// openDevice opens this rank's device.
func (e *epoch) openDevice() error {
	g := e.group
	if c := g.cfg.Credentials; c != nil && c.TLS != nil {
		return &verbs.SetupError{Err: errors.New("verbs: their bytes cannot be encrypted by TLS")}
	}
	if !e.engine.Driver.Upgrades() {
		return errors.New("verbs: they need bare TCP connections on Linux, and the poll loop over them")
	}
	err := g.device.Open(g.port(e.wiring.Peers[g.cfg.Rank]))
	if _, refused := errors.AsType[*rdma.RegistrationError](err); refused {
		g.log.Warn("registered memory cannot be registered again, it will be copied to be sent", "rank", g.cfg.Rank, "error", err)
		return nil
	}
	return err
}

// closeDevice deregisters all memory and closes the device. No bytes may be in flight.
func (e *epoch) closeDevice() {
	g := e.group
	direct, copied, err := g.device.Close()
	if direct+copied > 0 {
		g.log.Info(fmt.Sprintf("over verbs: %d bytes sent from where they were, %d copied to be sent", direct, copied), "rank", g.cfg.Rank)
	}
	if err != nil {
		g.log.Error("cannot close the RDMA device", "rank", g.cfg.Rank, "error", err)
	}
}

// port describes this rank's device. addr is the host:port at which other ranks reach this one.
func (g *Group) port(addr string) rdma.Port {
	return rdma.Port{Library: g.cfg.library, Name: g.cfg.VerbsDevice, Addr: addr}
}

// checkVerbs returns why this rank cannot use verbs, as far as is known before the job is wired;
// nil if it may.
func (g *Group) checkVerbs(listener net.Addr) error {
	if _, err := g.port(listener.String()).Find(); err != nil {
		return fmt.Errorf("transport verbs: %w", err)
	}
	return nil
}

// Verbs returns the RDMA device over which this rank's bytes go to other machines; "" if they go
// over TCP. It is valid after Ready.
func (g *Group) Verbs() string { return g.device.String() }
