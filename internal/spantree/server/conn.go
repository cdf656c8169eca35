// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/spantree/core"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const (
	// maxQueued bounds what waits for a client that does not read.
	maxQueued = 256
	// linger is how long a connection that was hung up may take to close its
	// end. Closed at once, with bytes of the client unread, the connection
	// would be reset, and the client could lose the reason it was just sent.
	linger = 2 * time.Second
)

// serverConn is a client's connection. Its reader is serve; a writer runs while
// something is to be sent. Thousands of clients may wait for hours, and
// what each costs meanwhile is one goroutine with a small stack.
type serverConn struct {
	s          *Server
	id         core.ConnID
	raw        net.Conn // the connection itself
	from       core.Endpoint
	listener   net.Listener
	registered bool  // guarded by s.mu
	dropped    bool  // likewise: it counts for nothing any more
	extra      int64 // of the reader: what it counts for beside connBytes

	writes atomic.Int64 // since when the writer is at a write, as Server.elapsed; 0: it is at none
	slow   atomic.Bool  // the client has not read in time

	mu      sync.Mutex
	nc      net.Conn   // over which is talked: raw, or TLS or a seal above it
	out     []*message // nil: hang up
	ended   bool       // nothing is queued any more
	over    bool       // nothing is sent any more: the reader is through
	writing bool       // there is a writer, or it has failed
	writer  sync.WaitGroup
	once    sync.Once
}

func newServerConn(s *Server, id core.ConnID, nc net.Conn, from core.Endpoint, l net.Listener) *serverConn {
	return &serverConn{s: s, id: id, raw: nc, nc: nc, from: from, listener: l}
}

// talk is the connection over which is talked now.
func (c *serverConn) stream() net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nc
}

// queue hands bytes to the writer; nil hangs up after what is queued. It
// never waits.
func (c *serverConn) queue(b []byte) {
	if b == nil {
		c.post(nil)
		return
	}
	c.post(&message{b: b})
}

// post is queue for a parcel. Who has let too much pile up is cut off, and so is who would
// let more pile up than there is memory for.
func (c *serverConn) post(p *message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	if p != nil && len(p.b) <= smallMessage && len(c.out) < smallMessages {
		p = &message{b: p.b, small: true}
	}
	if len(c.out) >= maxQueued || p != nil && !c.s.budget.retain(p) {
		c.ended = true
		c.abort()
		return
	}
	c.ended = p == nil
	c.out = append(c.out, p)
	if !c.writing {
		c.writing = true
		c.writer.Go(c.write)
	}
}

// abort closes the connection at once.
func (c *serverConn) abort() {
	c.once.Do(func() { _ = c.raw.Close() }) // the reader notices and cleans up
}

// serve reads until the connection ends. It owns the writer.
func (c *serverConn) serve() {
	err := c.read()
	c.apply(core.ConnClosed{Conn: c.id, Why: why(err)})
	c.mu.Lock()
	c.over, c.ended = true, true
	c.mu.Unlock()
	c.abort()
	c.writer.Wait()
	c.s.forget(c)
}

// apply tells the server's machine what happened.
func (c *serverConn) apply(ev core.Event) { onOwnStack(func() { c.s.apply(ev) }) }

// apart runs f on a stack that ends with it: the reader's own would stay as large
// as f once needed it, while the reader waits.
func onOwnStack(f func()) {
	var deep sync.WaitGroup
	deep.Go(f)
	deep.Wait()
}

// why says what ended a connection.
func why(err error) string {
	switch {
	case err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	case errors.Is(err, net.ErrClosed):
		return "the server closed the connection"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // without the addresses, which everybody knows
	}
	return "connection lost: " + err.Error()
}

// write sends what is queued and ends. A client that does not read costs its
// own connection, and nobody else anything.
func (c *serverConn) write() {
	for out := c.next(); out != nil; out = c.next() {
		for i, p := range out {
			if p == nil {
				c.hangUp()
				return // it is the last
			}
			c.writes.Store(max(1, c.s.elapsed.Load()))
			_, err := c.stream().Write(p.b)
			c.writes.Store(0)
			if err != nil {
				if c.slow.Load() {
					err = fmt.Errorf("nothing within %v", c.s.cfg.WriteTimeout)
				}
				c.s.warn(c, "client disconnected: it does not read", err)
				c.abort()
				c.s.budget.release(out[i:]...)
				return
			}
			c.s.budget.release(p)
		}
	}
}

// next is what is to be sent; nil ends the writer.
func (c *serverConn) next() []*message {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.out
	c.out = nil
	if c.over {
		c.s.budget.release(out...)
		out = nil
	}
	c.writing = out != nil
	return out
}

// HangUp ends our direction; the reader goes on for a while, see linger.
func (c *serverConn) hangUp() {
	if half, ok := c.stream().(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // a client that is gone already is no fault
	}
	_ = c.raw.SetReadDeadline(time.Now().Add(linger))
}

// read tells the two protocols apart and follows the one it finds.
func (c *serverConn) read() error {
	_ = c.raw.SetReadDeadline(time.Now().Add(c.s.cfg.HandshakeTimeout))
	hello, err := c.open()
	switch {
	case err != nil:
		return err
	case isHello(hello):
		return c.readNative()
	case !c.s.cfg.Credentials.VW():
		return c.refuseVW()
	}
	le := binary.LittleEndian
	return c.readVW(le.Uint64(hello[:]), le.Uint64(hello[8:]), le.Uint64(hello[16:]))
}

// mute logs a client that went or kept silent before it said what it wants: a
// port scanner, a health probe, a telnet.
func (c *serverConn) logUnregistered(said string, err error) error {
	if c.s.ended() {
		return err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("nothing more within %v", c.s.cfg.HandshakeTimeout)
	}
	c.s.warn(c, "client closed before it registered", fmt.Errorf("%s, then: %w", said, err))
	return err
}

// readVW follows a vw worker: its registration, its port, its end.
func (c *serverConn) readVW(unique, total, rank uint64) error {
	c.s.registered(c)
	_ = c.raw.SetReadDeadline(time.Time{}) // the job may take hours to fill
	c.apply(core.VWHello{Conn: c.id, From: c.from, Unique: unique, Total: total, Rank: rank})
	var port [2]byte
	if _, err := io.ReadFull(c.stream(), port[:]); err != nil {
		return err
	}
	c.apply(core.VWPort{Conn: c.id, Port: binary.BigEndian.Uint16(port[:])})
	// It has nothing more to say; what is of interest is when it goes.
	_, err := io.Copy(io.Discard, c.stream())
	return err
}

// readNative follows a client that speaks frames.
func (c *serverConn) readNative() (err error) {
	frames := &protocol.FrameReader{R: c.stream(), Limit: c.s.cfg.MaxFrame, Budget: &c.s.budget}
	onOwnStack(func() { err = c.handshake(frames) })
	for err == nil {
		if err = frames.Wait(); err != nil {
			return c.refuse(err)
		}
		onOwnStack(func() { err = c.receive(frames) })
	}
	return err
}

// greet answers a client's hello and takes its first frame.
func (c *serverConn) handshake(frames *protocol.FrameReader) error {
	w := &protocol.WelcomeFrame{
		Term: c.s.term(), Incarnation: c.s.core.Incarnation,
		MaxFrame: uint32(c.s.cfg.MaxFrame), MaxRanks: uint32(c.s.cfg.MaxRanks), Version: c.s.cfg.Version,
	}
	if _, asks := c.s.cfg.Credentials.Control(); asks {
		w.Asks, w.Nonce = protocol.AsksSecret, auth.Nonce()
	}
	welcome, err := protocol.AppendFrame(nil, w)
	if err != nil {
		panic(fmt.Sprintf("BUG: spantree: %v", err))
	}
	c.queue(welcome)
	if err := c.authenticate(welcome, frames); err != nil {
		return err
	}
	f, err := frames.Next()
	if _, ok := errors.AsType[*protocol.FrameError](err); err != nil && !ok && !errors.Is(err, protocol.ErrMemory) {
		return c.logUnregistered("the hello of the native protocol", err)
	}
	if err != nil {
		return c.refuse(err)
	}
	c.s.registered(c)
	if join, ok := f.(*protocol.JoinFrame); ok && frames.Version != protocol.ProtocolVersion {
		return c.refuseVersion(join, frames.Version)
	}
	switch f := f.(type) {
	case *protocol.JoinFrame:
		if !c.s.reserveMember(frames.Size) {
			return c.refuseAs(protocol.ServerFull, protocol.ErrMemory)
		}
		_ = c.raw.SetReadDeadline(time.Time{}) // heartbeats are watched from now on
		c.s.apply(core.JoinReceived{Conn: c.id, From: c.from, Join: f})
	case *protocol.StatusFrame:
		c.s.apply(core.StatusRequested{Conn: c.id})
	case *protocol.CancelFrame:
		c.s.apply(core.CancelRequested{Conn: c.id, From: c.from, Cancel: f})
	default:
		return c.refuse(&protocol.FrameError{Type: protocol.TypeOf(f), Err: errors.New("a connection begins with JOIN, STATUS or CANCEL")})
	}
	return nil
}

// receive takes a frame whose header has come.
func (c *serverConn) receive(frames *protocol.FrameReader) error {
	f, err := frames.Next()
	if err != nil {
		return c.refuse(err)
	}
	if _, long := f.(*protocol.CompleteFrame); long && !c.s.reserveMember(frames.Size) { // with the files that it owes
		return c.refuseAs(protocol.ServerFull, protocol.ErrMemory)
	}
	c.s.apply(core.FrameReceived{Conn: c.id, Frame: f})
	return nil
}

// refuse answers bytes that are no frame, and ends the connection.
func (c *serverConn) refuse(err error) error {
	if errors.Is(err, protocol.ErrMemory) {
		return c.refuseAs(protocol.ServerFull, protocol.ErrMemory)
	}
	fault, ok := errors.AsType[*protocol.FrameError](err)
	if !ok {
		return err
	}
	return c.refuseAs(protocol.Malformed, fault)
}

// refuseVersion answers a rank that speaks another version of the protocol.
func (c *serverConn) refuseVersion(f *protocol.JoinFrame, got uint8) error {
	return c.refuseAs(protocol.VersionDiffers, fmt.Errorf("rank %d speaks %s, this server %s: %s",
		f.Rank, protocol.VersionOf(got, f.Version), protocol.VersionOf(protocol.ProtocolVersion, c.s.cfg.Version), protocol.SameRelease))
}

func (c *serverConn) refuseAs(code protocol.Code, fault error) error {
	c.s.warn(c, "client refused", fault)
	b, err := protocol.AppendFrame(nil, &protocol.RefusedFrame{Code: code, Reason: protocol.Clip(fault.Error(), protocol.MaxText)})
	if err != nil {
		panic(fmt.Sprintf("BUG: spantree: %v", err))
	}
	c.queue(b)
	c.apply(core.ConnClosed{Conn: c.id, Why: fault.Error()})
	c.queue(nil)
	_, _ = io.Copy(io.Discard, c.raw) // until the client has closed, or linger is over
	return fault
}
