// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// endpoint is a server and the means to connect to it.
type endpoint struct {
	network transport.Network
	server  string // host:port
	creds   *auth.Credentials
}

// connect connects to the server, completes the handshake, and calls exchange with the connection. All
// of this takes at most attemptTimeout. The returned connection has no deadline.
func (g endpoint) connect(ctx context.Context, exchange func(net.Conn, *protocol.FrameReader) error) (net.Conn, *protocol.FrameReader, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, attemptTimeout, fmt.Errorf("no answer within %v", attemptTimeout))
	defer cancel()
	bare, err := g.network.Dial(ctx, g.server)
	if err != nil {
		return nil, nil, err
	}
	// A deadline in the past interrupts the handshake and exchange, which read without ctx.
	stop := context.AfterFunc(ctx, func() { _ = bare.SetDeadline(time.Unix(1, 0)) })
	var frames *protocol.FrameReader
	conn, err := g.creds.Client(ctx, bare, hostOf(g.server))
	if err == nil {
		conn, frames, err = g.handshake(conn)
	}
	if err != nil {
		err = g.classify(err)
	} else {
		err = exchange(conn, frames)
	}
	if !stop() {
		err = context.Cause(ctx) // the deadline was set, so the connection is useless even without an error
	}
	if err != nil {
		_ = bare.Close() // err is the cause
		return nil, nil, err
	}
	return conn, frames, nil
}

// classify returns err, the error of a handshake, as a refusal if it is one. Before the end of the
// handshake the server is not authenticated. A program without credentials can authenticate no
// server; there a refusal with a correct checksum counts as authentic.
func (g endpoint) classify(err error) error {
	if no, ok := errors.AsType[*auth.Error](auth.Explain(err)); ok {
		err = g.refused("%v", no)
	}
	if no, ok := errors.AsType[*protocol.RefusedError](err); ok && g.creds.Any() {
		no.Unauthenticated = true
	}
	return err
}

// refusal converts a REFUSED frame. Code Malformed is a server's answer to changed bytes. Without
// credentials the bytes may have been changed on the way.
func (g endpoint) refusal(f *protocol.RefusedFrame) error {
	return &protocol.RefusedError{
		Server: g.server, Code: f.Code, Reason: f.Reason, Model: f.Model,
		Unauthenticated: f.Code == protocol.Malformed && !g.creds.Any(),
	}
}

// refused returns the refusal of a server by this client, for its credentials.
func (g endpoint) refused(format string, args ...any) error {
	return &protocol.RefusedError{ByClient: true, Server: g.server, Code: protocol.Unauthorised, Reason: fmt.Sprintf(format, args...)}
}

// hostOf returns the host of host:port.
func hostOf(addr string) string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	return host
}

// handshake sends the hello and reads the answer: WELCOME, or the four zero bytes of vw's own
// server. Then both sides prove that they have the secret, if there is one. It returns the
// connection for all later frames, which may be sealed.
func (g endpoint) handshake(conn net.Conn) (net.Conn, *protocol.FrameReader, error) {
	if _, err := conn.Write(protocol.AppendHello(nil)); err != nil {
		return nil, nil, err
	}
	var ok [4]byte
	if _, err := io.ReadFull(conn, ok[:]); err != nil {
		return nil, nil, fmt.Errorf("no answer to the hello: %w", err)
	}
	if ok == [4]byte{} {
		if !g.creds.VW() {
			return nil, nil, g.refused("vw's own server answers, or one that takes this program for vw: it cannot authenticate; start gvw's spanning_tree, or set auth.Credentials.AllowVW")
		}
		return nil, nil, errVWServer
	}
	frames := &protocol.FrameReader{R: conn, Limit: protocol.MaxPayload}
	var welcome bytes.Buffer // the bytes of WELCOME, which the proof covers
	first := &protocol.FrameReader{R: io.TeeReader(io.MultiReader(bytes.NewReader(ok[:]), conn), &welcome), Limit: protocol.MaxPayload}
	f, err := first.Next()
	if err != nil {
		return nil, nil, fmt.Errorf("no server of the native protocol: %w", err)
	}
	if no, ok := f.(*protocol.RefusedFrame); ok {
		return nil, nil, g.refusal(no)
	}
	w, is := f.(*protocol.WelcomeFrame)
	switch {
	case !is:
		return nil, nil, &protocol.FrameError{Type: protocol.TypeOf(f), Err: errors.New("want WELCOME in answer to the hello")}
	case first.Version != protocol.ProtocolVersion:
		return nil, nil, &protocol.RefusedError{
			Server: g.server, Code: protocol.VersionDiffers,
			Reason: fmt.Sprintf("it speaks %s, this program version %d: %s", protocol.VersionOf(first.Version, w.Version), protocol.ProtocolVersion, protocol.SameRelease),
		}
	}
	frames.Server, frames.MaxFrame = w.Incarnation, int(min(w.MaxFrame, protocol.MaxPayload))
	return g.authenticate(conn, frames, w, welcome.Bytes())
}

// authenticate proves to the server that this client has the secret, and checks the server's proof.
// w is the server's WELCOME, and welcome its bytes.
func (g endpoint) authenticate(conn net.Conn, frames *protocol.FrameReader, w *protocol.WelcomeFrame, welcome []byte) (net.Conn, *protocol.FrameReader, error) {
	key, have := g.creds.Control()
	switch asks := w.Asks&protocol.AsksSecret != 0; {
	case w.Asks&^protocol.AsksSecret != 0:
		return nil, nil, g.refused("it asks for a proof that this program does not know (%#x): %s", w.Asks, protocol.SameRelease)
	case asks && !have:
		return nil, nil, g.refused("it requests a proof of a secret, and this program has none: add auth.Credentials.Secret")
	case !asks && have:
		return nil, nil, g.refused("it requests no proof of the secret of this program: it is another server, or was started without a secret")
	case !asks:
		return conn, frames, nil
	}
	nonce := auth.Nonce()
	x := protocol.Exchange(key, welcome, nonce, conn)
	b, err := protocol.AppendFrame(nil, &protocol.ProofFrame{Nonce: nonce, Proof: x.Proof(auth.Client)})
	if err == nil {
		_, err = conn.Write(b)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := frames.Next()
	if err != nil {
		return nil, nil, fmt.Errorf("no answer to PROOF: %w", err)
	}
	switch f := f.(type) {
	case *protocol.RefusedFrame:
		return nil, nil, g.refusal(f)
	case *protocol.AuthOKFrame:
		if !x.Accepts(auth.Server, f.Proof[:]) {
			return nil, nil, g.refused("it has accepted this program, but its own proof is wrong: it is another server")
		}
		conn = protocol.Sealed(conn, x, auth.Client)
		frames.R = conn
		return conn, frames, nil
	}
	return nil, nil, &protocol.FrameError{Type: protocol.TypeOf(f), Err: errors.New("want AUTH_OK or REFUSED in answer to PROOF")}
}
