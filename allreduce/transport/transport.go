// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"net"
)

// Network makes and accepts connections. The TCP network is the product's;
// the one of package mem runs whole jobs inside one process, with
// testing/synctest's clock.
type Network interface {
	// Listen announces on addr, "host:port"; port 0 picks a free one.
	Listen(ctx context.Context, addr string) (net.Listener, error)
	// Dial connects to addr. It gives up when ctx ends, not before.
	Dial(ctx context.Context, addr string) (net.Conn, error)
}

// TCP is the network of the operating system. Every connection it makes or
// accepts has TCP_NODELAY set: vw lacks it and waits 40 ms for each
// delayed acknowledgement.
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
