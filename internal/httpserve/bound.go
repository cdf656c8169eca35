// SPDX-License-Identifier: Apache-2.0

package httpserve

import (
	"net"
	"sync"
)

// Bound returns a listener that closes connections above a limit. Package netutil of
// golang.org/x/net would let them wait, without an answer.
func Bound(l net.Listener, most int) net.Listener {
	return &bounded{Listener: l, free: make(chan struct{}, most)}
}

// bounded closes connections above a limit.
type bounded struct {
	net.Listener
	free chan struct{} // one element per connection
}

// Accept returns the next connection within the limit.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case b.free <- struct{}{}:
			return &counted{Conn: c, free: b.free}, nil
		default:
			_ = c.Close() // nothing was sent
		}
	}
}

// counted gives its place back when it is closed.
type counted struct {
	net.Conn
	free chan struct{}
	once sync.Once
}

// Close closes the connection.
func (c *counted) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { <-c.free })
	return err
}
