// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"sync"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// noise changes bits of what a rank writes.
type noise struct {
	mu   sync.Mutex
	rng  *rand.Rand
	bits int // still to change
}

// begin changes some bits from now on.
func (n *noise) begin(bits int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bits = bits
}

// change returns b, or a copy with a changed bit: about one write in five.
func (n *noise) change(b []byte) []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.bits == 0 || len(b) == 0 || n.rng.IntN(5) > 0 {
		return b
	}
	n.bits--
	b = bytes.Clone(b)
	b[n.rng.IntN(len(b))] ^= 1 << n.rng.IntN(8)
	return b
}

// noisy is a network with noise on the connections that a rank opens to other ranks.
type noisy struct {
	transport.Network
	server string
	noise  *noise
}

func (n noisy) Dial(ctx context.Context, addr string) (net.Conn, error) {
	c, err := n.Network.Dial(ctx, addr)
	if err != nil || addr == n.server {
		return c, err
	}
	return noisyConn{c, n.noise}, nil
}

type noisyConn struct {
	net.Conn
	noise *noise
}

func (c noisyConn) Write(b []byte) (int, error) { return c.Conn.Write(c.noise.change(b)) }
