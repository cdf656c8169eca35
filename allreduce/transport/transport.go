// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"net"
)

// Network listens and dials. Programs use TCP; tests use package mem, which runs whole
// jobs inside one process with testing/synctest's clock.
type Network interface {
	// Listen listens on addr, "host:port"; port 0 picks a free one.
	Listen(ctx context.Context, addr string) (net.Listener, error)
	// Dial connects to addr. It gives up only when ctx ends.
	Dial(ctx context.Context, addr string) (net.Conn, error)
}

// TCP is the network of the operating system. All its connections have TCP_NODELAY set.
// vw does not set it, and loses 40 ms per delayed acknowledgement.
var TCP Network = tcp{}

type tcp struct{}

func (tcp) Listen(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", addr) // the net package sets TCP_NODELAY on accepted connections
}

func (tcp) Dial(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr) // the net package sets TCP_NODELAY
}
