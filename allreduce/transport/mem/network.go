// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// buffer is the capacity in bytes of each direction of a connection.
const buffer = 64 << 10

// backlog is the number of connections that may wait for Accept, as on Linux.
const backlog = 4096

// Network is a set of hosts. Its own methods act as the host "mem".
type Network struct {
	mu        sync.Mutex
	listeners map[string]*listener
	conns     map[*conn]struct{}
	held      map[string]bool    // by host: no bytes move
	dead      map[string]bool    // by host: killed
	parted    map[[2]string]bool // pairs of hosts, the lesser first
	port      int                // the last port assigned
}

var (
	_ transport.Network = (*Network)(nil)
	_ transport.Network = (*Host)(nil)
)

// New returns a network without listeners or connections.
func New() *Network {
	return &Network{
		listeners: map[string]*listener{},
		conns:     map[*conn]struct{}{},
		held:      map[string]bool{},
		dead:      map[string]bool{},
		parted:    map[[2]string]bool{},
		port:      32768,
	}
}

// Listen listens on addr at the host "mem".
func (n *Network) Listen(ctx context.Context, addr string) (net.Listener, error) {
	return n.Host("mem").Listen(ctx, addr)
}

// Dial connects from the host "mem".
func (n *Network) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return n.Host("mem").Dial(ctx, addr)
}

// Host returns the network as seen from the host with this name.
func (n *Network) Host(name string) *Host { return &Host{n, name} }

// Cut breaks all connections of the host at both ends, and loses the bytes in transit.
// It returns their number. Listeners stay.
func (n *Network) Cut(host string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cut(host)
}

func (n *Network) cut(host string) int {
	cut := 0
	for c := range n.conns {
		if c.local.host == host || c.remote.host == host {
			c.in.abort(syscall.ECONNRESET)
			c.out.abort(syscall.ECONNRESET)
			cut++
		}
	}
	return cut / 2 // both ends were counted
}

// Reset breaks all connections between two hosts at both ends, and loses the bytes in
// transit. New connections can be opened. It returns their number.
func (n *Network) Reset(a, b string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	reset := 0
	for c := range n.conns {
		if pairOf(c.local.host, c.remote.host) == pairOf(a, b) {
			c.in.abort(syscall.ECONNRESET)
			c.out.abort(syscall.ECONNRESET)
			reset++
		}
	}
	return reset / 2 // both ends were counted
}

// Kill removes a host for good, as the death of its process would: its connections
// break, and it can neither dial nor be dialled.
func (n *Network) Kill(host string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dead[host] = true
	n.cut(host)
}

// Part breaks the network between two hosts, or repairs it. Bytes between them
// stop moving, and new connections are refused.
func (n *Network) Part(a, b string, parted bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.parted[pairOf(a, b)] = parted
	n.holdAll()
}

func pairOf(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }

// Hold stops the bytes to and from the host, or lets them move again. Writes
// are accepted until the buffer is full; reads get nothing.
// Connections made meanwhile are held as well.
func (n *Network) Hold(host string, held bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held[host] = held
	n.holdAll()
}

// holdAll updates all connections after a change of held or parted hosts.
func (n *Network) holdAll() {
	for c := range n.conns {
		held := n.isHeld(c.local.host, c.remote.host)
		c.in.hold(held)
		c.out.hold(held)
	}
}

// stops reports whether no bytes move between two hosts.
func (n *Network) isHeld(a, b string) bool {
	return n.held[a] || n.held[b] || n.parted[pairOf(a, b)]
}

func (n *Network) forget(c *conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, c)
}

// Host is one host's view of a network.
type Host struct {
	n    *Network
	name string
}

// Listen listens on addr. An empty host means this host, port 0 a free port.
func (h *Host) Listen(ctx context.Context, addr string) (net.Listener, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("listen %s: %w", addr, err)
	}
	a, err := h.resolve(addr)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "mem", Err: err}
	}
	n := h.n
	n.mu.Lock()
	defer n.mu.Unlock()
	if a.port == 0 {
		n.port++
		a.port = n.port
	}
	if n.listeners[a.String()] != nil {
		return nil, &net.OpError{Op: "listen", Net: "mem", Addr: a, Err: syscall.EADDRINUSE}
	}
	l := &listener{n: n, addr: a, queue: make(chan *conn, backlog), closed: make(chan struct{})}
	n.listeners[a.String()] = l
	return l, nil
}

// Dial connects to addr. An empty host means this host.
func (h *Host) Dial(ctx context.Context, addr string) (net.Conn, error) {
	remote, err := h.resolve(addr)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "mem", Err: err}
	}
	if err := ctx.Err(); err != nil {
		return nil, &net.OpError{Op: "dial", Net: "mem", Addr: remote, Err: err}
	}
	n := h.n
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.listeners[remote.String()]
	if l == nil || n.dead[h.name] || n.dead[remote.host] || n.parted[pairOf(h.name, remote.host)] {
		return nil, &net.OpError{Op: "dial", Net: "mem", Addr: remote, Err: syscall.ECONNREFUSED}
	}
	n.port++
	local := address{h.name, n.port}
	up, down := newPipe(), newPipe()
	held := n.isHeld(h.name, remote.host)
	up.hold(held)
	down.hold(held)
	near := newConn(n, down, up, local, remote)
	far := newConn(n, up, down, remote, local)
	select {
	case l.queue <- far:
	default:
		return nil, &net.OpError{Op: "dial", Net: "mem", Addr: remote, Err: errors.New("too many connections wait for Accept")}
	}
	n.conns[near] = struct{}{}
	n.conns[far] = struct{}{}
	return near, nil
}

func (h *Host) resolve(addr string) (address, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return address{}, err
	}
	p, err := strconv.Atoi(port)
	if err != nil || p < 0 {
		return address{}, fmt.Errorf("address %q: got port %q, want a number", addr, port)
	}
	if host == "" {
		host = h.name
	}
	return address{host, p}, nil
}

// address is a host's name and a port.
type address struct {
	host string
	port int
}

func (a address) Network() string { return "mem" }
func (a address) String() string  { return net.JoinHostPort(a.host, strconv.Itoa(a.port)) }

// listener returns the far ends of dialled connections.
type listener struct {
	n      *Network
	addr   address
	queue  chan *conn
	once   sync.Once
	closed chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
	default:
		select {
		case c := <-l.queue:
			return c, nil
		case <-l.closed:
		}
	}
	return nil, &net.OpError{Op: "accept", Net: "mem", Addr: l.addr, Err: net.ErrClosed}
}

func (l *listener) Addr() net.Addr { return l.addr }

// Close ends Accept and resets the connections that wait for it.
func (l *listener) Close() error {
	l.once.Do(func() {
		l.n.mu.Lock()
		delete(l.n.listeners, l.addr.String())
		l.n.mu.Unlock()
		close(l.closed)
		for {
			select {
			case c := <-l.queue:
				c.in.abort(syscall.ECONNRESET)
				c.out.abort(syscall.ECONNRESET)
				l.n.forget(c)
			default:
				return
			}
		}
	})
	return nil
}
