// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// Mesh is the data connections of one rank, for as long as its job lasts: a listener, the
// handshakes that are pending on it, and the connections of each epoch.
type Mesh struct {
	cfg       Config
	owner     Owner
	listener  net.Listener
	advertise string
	pending   pending

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	opened sync.Once
	work   sync.WaitGroup // the acceptor and its handshakes
}

// Owner is the user of a mesh. Its methods are called by the goroutines of handshakes.
type Owner interface {
	// Current returns the epoch that this rank is in. Before the first one both results are
	// nil. In an epoch without collectives the second one is nil.
	Current() (*client.Wiring, *Epoch)
	// Newest returns the newest epoch that the server has announced, in which this rank may
	// not be yet; nil: none.
	Newest() *client.Wiring
	// Serve sends the rank from what it lacks at the start of the epoch of w. c is sealed if
	// frames have tags. It is closed when Serve returns. An error that is [ErrNotYet] is not
	// logged: the other rank tries again.
	Serve(c net.Conn, from int, w *client.Wiring) error
}

// Listen validates cfg and opens the listener. No connection is accepted before Accept.
func Listen(ctx context.Context, cfg Config, owner Owner) (*Mesh, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	at, err := address.Parse(cfg.Listen)
	var l net.Listener
	if err == nil {
		l, err = at.Listen(ctx, cfg.Network, address.Machine)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen for other ranks: %w", err)
	}
	advertise, err := address.Advertise(cfg.Advertise, l.Addr(), address.Machine)
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("cannot advertise an address: %w", err)
	}
	m := &Mesh{
		cfg: cfg, owner: owner, listener: l, advertise: advertise,
		pending: pending{limit: pendingLimit(transport.FileLimit())},
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m, nil
}

// Addr returns the address of the listener.
func (m *Mesh) Addr() net.Addr { return m.listener.Addr() }

// Advertised returns the host:port that the server passes to other ranks. An empty host stands
// for the address from which the server sees this rank.
func (m *Mesh) Advertised() string { return m.advertise }

// SetRank gives a spare the rank that the server has assigned to it, before the first epoch.
func (m *Mesh) SetRank(rank int) { m.cfg.Rank = rank }

// Accept starts the acceptor. Further calls do nothing.
func (m *Mesh) Accept() {
	m.opened.Do(func() { m.work.Go(m.accept) })
}

// Close closes the listener, and waits for the acceptor and all pending handshakes. The
// connections of epochs belong to their users.
func (m *Mesh) Close() {
	m.cancel()
	m.listener.Close() // it may be closed already, by an epoch with vw workers
	m.work.Wait()
}
