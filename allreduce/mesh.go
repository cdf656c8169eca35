// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// mesh is the data connections of one rank, for as long as its job lasts: a listener, the
// handshakes that are pending on it, and the connections of each epoch.
type mesh struct {
	cfg       meshConfig
	owner     meshOwner
	listener  net.Listener
	advertise string
	pending   pending

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	opened sync.Once
	work   sync.WaitGroup // the acceptor and its handshakes
}

// meshOwner is the user of a mesh. Its methods are called by the goroutines of handshakes.
type meshOwner interface {
	// Current returns the epoch that this rank is in. Before the first one both results are
	// nil. In an epoch without collectives the second one is nil.
	Current() (*client.Wiring, *meshEpoch)
	// Newest returns the newest epoch that the server has announced, in which this rank may
	// not be yet; nil: none.
	Newest() *client.Wiring
	// Serve sends the rank from what it lacks at the start of the epoch of w. c is sealed if
	// frames have tags. It is closed when Serve returns. An error that is [ErrNotYet] is not
	// logged: the other rank tries again.
	Serve(c net.Conn, from int, w *client.Wiring) error
}

// meshListen opens the listener. No connection is accepted before Accept.
func meshListen(ctx context.Context, cfg meshConfig, owner meshOwner) (*mesh, error) {
	cfg = cfg.withDefaults()
	at, err := address.Parse(cfg.Listen)
	var l net.Listener
	if err == nil {
		l, err = at.Listen(ctx, cfg.Network, address.Machine)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen for other ranks: %w", err)
	}
	m, err := newMesh(cfg, owner, l)
	if err != nil {
		l.Close()
	}
	return m, err
}

func newMesh(cfg meshConfig, owner meshOwner, l net.Listener) (*mesh, error) {
	advertise, err := address.Advertise(cfg.Advertise, l.Addr(), address.Machine)
	if err != nil {
		return nil, fmt.Errorf("Advertise: %w", err)
	}
	m := &mesh{
		cfg: cfg, owner: owner, listener: l, advertise: advertise,
		pending: pending{limit: pendingLimit(transport.FileLimit())},
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m, nil
}

// Addr returns the address of the listener.
func (m *mesh) Addr() net.Addr { return m.listener.Addr() }

// Advertised returns the host:port that the server passes to other ranks. An empty host stands
// for the address from which the server sees this rank.
func (m *mesh) Advertised() string { return m.advertise }

// SetRank gives a spare the rank that the server has assigned to it, before the first epoch.
func (m *mesh) SetRank(rank int) { m.cfg.Rank = rank }

// Accept starts the acceptor. Further calls do nothing.
func (m *mesh) Accept() {
	m.opened.Do(func() { m.work.Go(m.accept) })
}

// Close closes the listener, and waits for the acceptor and all pending handshakes. The
// connections of epochs belong to their users.
func (m *mesh) Close() {
	m.cancel()
	m.listener.Close() // it may be closed already, by an epoch with vw workers
	m.work.Wait()
}
