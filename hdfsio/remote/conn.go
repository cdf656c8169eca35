// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"time"
)

// Limits on one exchange with a server. Each read and each write must transfer at least one
// byte within idleTimeout: a server that hangs counts as lost.
const (
	dialTimeout = 15 * time.Second
	idleTimeout = time.Minute
)

// Dialer connects to servers. All reads and writes on its connections have a limit.
type Dialer struct {
	// Idle is the limit for a read or write to transfer the next byte; 0: one minute.
	Idle time.Duration
	// Connect makes a connection without limits; nil: by TCP.
	Connect func(ctx context.Context, network, address string) (net.Conn, error)
}

// Dial connects to a server.
func (d Dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	connect := d.Connect
	if connect == nil {
		connect = dialTCP
	}
	c, err := connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &limited{Conn: c, idle: cmp.Or(d.Idle, idleTimeout)}, nil
}

func dialTCP(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	return d.DialContext(ctx, network, address)
}

// Dial connects to a server with the limits of the zero Dialer.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return Dialer{}.Dial(ctx, network, address)
}

// Transport returns a transport for HTTP whose every step has a limit. Its bodies are the stored
// bytes, to which positions refer. Proxies are those of the environment.
func Transport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           Dial,
		TLSHandshakeTimeout:   idleTimeout,
		ResponseHeaderTimeout: idleTimeout,
		IdleConnTimeout:       idleTimeout / 2,
		DisableCompression:    true,
	}
}

// limited is a connection on which every read and write has a deadline. The first
// that fails closes it: a late response would be taken for that of the next request.
// A write also extends a running read: net/http waits for the response to an upload while it
// sends the body.
type limited struct {
	net.Conn
	idle time.Duration
}

func (c *limited) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if err != nil {
		_ = c.Close() // the error is more specific
	}
	return n, err
}

func (c *limited) Write(b []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	if err != nil {
		_ = c.Close() // the error is more specific
	}
	return n, err
}
