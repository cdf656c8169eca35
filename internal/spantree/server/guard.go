// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/spantree/core"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// open reads the first 24 bytes of a connection, within TLS if the client uses it.
func (c *serverConn) open() (hello [protocol.HelloSize]byte, err error) {
	if err := c.readHello(hello[:]); err != nil {
		return hello, err
	}
	creds := c.s.cfg.Credentials
	tls := auth.IsTLS(hello[:])
	if creds == nil || creds.TLS == nil {
		// The id of a vw worker may look like TLS, but then the total would not be valid.
		if total := binary.LittleEndian.Uint64(hello[8:]); tls && total > protocol.MaxRanksLimit {
			return hello, c.refuseAs(protocol.Unauthorised, errors.New("this server speaks no TLS: it was started without a certificate and without encryption"))
		}
		return hello, nil
	}
	if tls {
		c.s.stacks.run(func() { err = c.overTLS(creds, hello[:]) })
		if err == nil {
			err = c.readHello(hello[:])
		}
		return hello, err
	}
	// vw workers cannot use TLS. With AllowVW they are accepted without it.
	if isHello(hello) {
		return hello, c.refuseAs(protocol.Unauthorised, errors.New("this server requires TLS: use certificates, or encryption, as the server does"))
	}
	return hello, nil
}

// readHello reads the first 24 bytes. Port scanners and health probes send fewer, which is logged.
func (c *serverConn) readHello(hello []byte) error {
	n, err := io.ReadFull(c.stream(), hello)
	if err != nil {
		return c.logUnregistered(fmt.Sprintf("%d of the %d bytes of a registration", n, protocol.HelloSize), err)
	}
	return nil
}

// isHello reports whether the first 24 bytes are the hello of the native protocol.
func isHello(b [protocol.HelloSize]byte) bool {
	le := binary.LittleEndian
	return le.Uint64(b[:]) == protocol.HelloMagic && le.Uint64(b[8:]) == protocol.HelloTotal && le.Uint64(b[16:]) == protocol.HelloRank
}

// overTLS completes a TLS handshake that the client has begun. Handshakes need time and memory, so
// their number is limited; one that waits for its client does not count.
func (c *serverConn) overTLS(creds *auth.Credentials, begun []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.s.cfg.HandshakeTimeout)
	defer cancel()
	_ = c.raw.SetWriteDeadline(time.Now().Add(c.s.cfg.HandshakeTimeout)) // the read deadline remains
	g := &gatedConn{Conn: c.raw, gate: c.s.handshakes, ctx: ctx, prefix: begun}
	if err := g.acquire(); err != nil {
		return c.refuseTLS(fmt.Errorf("%d other handshakes are in progress: %w", cap(c.s.handshakes), err))
	}
	c.s.mu.Lock()
	room := c.s.reserve(tlsBytes, 0)
	c.s.mu.Unlock()
	if !room {
		g.finish()
		return c.refuseTLS(protocol.ErrMemory)
	}
	c.extra += tlsBytes
	over, err := creds.Server(ctx, g)
	g.finish()
	if err != nil {
		return c.refuseTLS(err)
	}
	_ = c.raw.SetWriteDeadline(time.Time{})
	c.mu.Lock()
	c.nc = over
	c.mu.Unlock()
	return nil
}

// refuseTLS ends a failed handshake. TLS itself sends the reason; the client's end of the
// connection is awaited so that the client can read it.
func (c *serverConn) refuseTLS(err error) error {
	if !c.s.ended() {
		c.s.warn(c, "TLS client refused", err)
		c.s.apply(core.ClientRefused{From: c.from, Why: err.Error()})
	}
	c.hangUp()
	_, _ = io.Copy(io.Discard, c.raw)
	return err
}

// gatedConn is a connection during its handshake. It holds a slot of gate while the handshake
// computes, and none while it waits for the client.
type gatedConn struct {
	net.Conn
	gate   chan struct{}
	ctx    context.Context // its deadline ends the wait for a slot
	prefix []byte          // bytes that were read before the handshake
	done   bool            // the handshake has ended; one goroutine completes it and then reads
}

// acquire waits for a slot, until the deadline of the handshake.
func (g *gatedConn) acquire() error {
	select {
	case g.gate <- struct{}{}:
		return nil
	case <-g.ctx.Done():
		return g.ctx.Err()
	}
}

// finish ends the handshake and frees the slot.
func (g *gatedConn) finish() {
	<-g.gate
	g.done = true
}

// Read returns the prefix, then bytes of the connection. During the handshake it frees the slot while
// it waits for the client.
func (g *gatedConn) Read(b []byte) (int, error) {
	if len(g.prefix) > 0 {
		n := copy(b, g.prefix)
		g.prefix = g.prefix[n:]
		return n, nil
	}
	if g.done {
		return g.Conn.Read(b)
	}
	<-g.gate
	n, err := g.Conn.Read(b)
	g.gate <- struct{}{} // handshakes that hold a slot compute, so the wait is short
	return n, err
}

// CloseWrite closes the sending direction below TLS.
func (g *gatedConn) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// authenticate has the client prove that it has the secret, if the server has one. All later bytes
// are then sealed.
func (c *serverConn) authenticate(welcome []byte, frames *protocol.FrameReader) error {
	key, asks := c.s.cfg.Credentials.Control()
	if !asks {
		return nil
	}
	f, err := frames.Next()
	switch _, bad := errors.AsType[*protocol.FrameError](err); {
	case err != nil && !bad:
		return c.logUnregistered("the hello of the native protocol", err)
	case err != nil:
		return c.refuse(err)
	}
	p, ok := f.(*protocol.ProofFrame)
	if join, is := f.(*protocol.JoinFrame); is && frames.Version != protocol.ProtocolVersion {
		return c.refuseVersion(join, frames.Version)
	}
	if !ok {
		return c.refuseAs(protocol.Unauthorised, fmt.Errorf("this server requests a proof of its secret, and %v came without a proof of it", protocol.TypeOf(f)))
	}
	x := protocol.Exchange(key, welcome, p.Nonce, c.stream())
	if !x.Accepts(auth.Client, p.Proof[:]) {
		return c.refuseAs(protocol.Unauthorised, errors.New("the secret is not the server's: it is another file, or the proof was changed on its way"))
	}
	b, err := protocol.AppendFrame(nil, &protocol.AuthOKFrame{Proof: x.Proof(auth.Server)})
	if err != nil {
		panic(fmt.Sprintf("BUG: spantree: %v", err))
	}
	// The writer does not send this frame, since all that it sends later is sealed. Nothing else is
	// queued: the client has received WELCOME.
	_ = c.raw.SetWriteDeadline(time.Now().Add(c.s.cfg.WriteTimeout))
	if _, err := c.stream().Write(b); err != nil {
		return err
	}
	_ = c.raw.SetWriteDeadline(time.Time{}) // the machine watches later writes
	c.mu.Lock()
	c.nc = protocol.Sealed(c.nc, x, auth.Server)
	frames.R = c.nc
	c.mu.Unlock()
	return nil
}

// refuseVW refuses a vw worker where vw's protocol is not allowed.
func (c *serverConn) refuseVW() error {
	why := errors.New("vw workers cannot authenticate, and this server has a secret or a certificate: auth.Credentials.AllowVW admits them")
	c.s.warn(c, "vw worker refused", why)
	c.queue([]byte{0, 0, 0, 0})
	c.queue(nil)
	_, _ = io.Copy(io.Discard, c.raw) // until the client closes, or linger has passed
	return why
}
