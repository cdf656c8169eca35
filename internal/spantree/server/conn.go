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
	"syscall"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/core"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const (
	// maxQueued limits the messages that wait for a slow reader.
	maxQueued = 256
	// linger is the time for which a closed connection is still read. If it was closed at once,
	// with unread bytes of the client, the kernel would reset it, and the client could lose the
	// last frame.
	linger = 2 * time.Second
)

// serverConn is a connection of a client. Its reader is serve; a writer exists while there are
// messages to send. Thousands of clients may wait for hours, each with one goroutine and a small
// stack.
type serverConn struct {
	s          *Server
	id         core.ConnID
	raw        net.Conn // the TCP connection
	from       core.Endpoint
	listener   net.Listener
	registered bool  // it has registered; guarded by s.mu
	dropped    bool  // it was closed to free its memory; guarded by s.mu
	extra      int64 // memory in addition to connBytes; only the reader uses it

	writes atomic.Int64 // start of the current write, as Server.elapsed; 0: none
	slow   atomic.Bool  // the current write has exceeded WriteTimeout

	mu      sync.Mutex
	nc      net.Conn   // raw, or TLS or a seal above it
	out     []*message // queued messages; a nil one closes the connection
	ended   bool       // no more messages are queued
	over    bool       // no more messages are sent: the reader has ended
	writing bool       // there is a writer, or it has failed
	writer  sync.WaitGroup
	once    sync.Once
}

func newServerConn(s *Server, id core.ConnID, nc net.Conn, from core.Endpoint, l net.Listener) *serverConn {
	return &serverConn{s: s, id: id, raw: nc, nc: nc, from: from, listener: l}
}

// stream returns the connection that carries the protocol now.
func (c *serverConn) stream() net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nc
}

// queue queues bytes for the writer; nil closes the connection after them. It never waits.
func (c *serverConn) queue(b []byte) {
	if b == nil {
		c.post(nil)
		return
	}
	c.post(&message{b: b})
}

// post queues a message. A client is disconnected when its queue reaches maxQueued, or when there
// is no memory for another message.
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
		c.writer.Add(1)
		c.s.stacks.start(c.write)
	}
}

// abort closes the connection at once.
func (c *serverConn) abort() {
	c.once.Do(func() { _ = c.raw.Close() }) // the reader notices this and cleans up
}

// serve reads until the connection ends. It waits for the writer.
func (c *serverConn) serve() {
	err := c.read()
	fault, text := why(err)
	c.apply(core.ConnClosed{Conn: c.id, Fault: fault, Why: text})
	c.mu.Lock()
	c.over, c.ended = true, true
	c.mu.Unlock()
	c.abort()
	c.writer.Wait()
	c.s.forget(c)
}

// apply passes an event to the machine. It and the other long calls of the reader run on another
// stack ([stacks]): the reader's would keep the size that they once needed, for as long as the
// reader waits.
func (c *serverConn) apply(ev core.Event) { c.s.stacks.run(func() { c.s.apply(ev) }) }

// why returns the reason for the end of a connection, and the words for it. The kernel of a host that lives resets the
// connections of a process that ends with unread bytes.
func why(err error) (events.Fault, string) {
	switch {
	case err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return events.FaultEnded, "connection closed"
	case errors.Is(err, net.ErrClosed):
		return events.FaultDropped, "the server closed the connection"
	case errors.Is(err, syscall.ECONNRESET):
		return events.FaultEnded, "connection closed: " + syscall.ECONNRESET.Error()
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // without the addresses, which the log line has
	}
	return events.FaultNetwork, "connection lost: " + err.Error()
}

// write sends the queued messages and ends. A client that does not read delays only itself.
func (c *serverConn) write() {
	defer c.writer.Done()
	for out := c.next(); out != nil; out = c.next() {
		for i, p := range out {
			if p == nil {
				c.hangUp()
				return // nothing is queued after it
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

// next returns the messages to send; nil ends the writer.
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

// hangUp closes the sending direction. The reader continues for linger.
func (c *serverConn) hangUp() {
	if half, ok := c.stream().(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // the client may have closed the connection
	}
	_ = c.raw.SetReadDeadline(time.Now().Add(linger))
}

// read distinguishes the two protocols, and follows the one that the client speaks.
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

// logUnregistered logs a client that has not registered, such as a port scanner or a health probe.
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

// readVW reads a vw worker's registration and port, and waits for the end of its connection.
func (c *serverConn) readVW(unique, total, rank uint64) error {
	c.s.registered(c)
	_ = c.raw.SetReadDeadline(time.Time{}) // the job may take hours to fill
	c.apply(core.VWHello{Conn: c.id, From: c.from, Unique: unique, Total: total, Rank: rank})
	var port [2]byte
	if _, err := io.ReadFull(c.stream(), port[:]); err != nil {
		return err
	}
	c.apply(core.VWPort{Conn: c.id, Port: binary.BigEndian.Uint16(port[:])})
	// The worker sends nothing more.
	_, err := io.Copy(io.Discard, c.stream())
	return err
}

// readNative reads the frames of a native client.
func (c *serverConn) readNative() (err error) {
	frames := &protocol.FrameReader{R: c.stream(), Limit: c.s.cfg.MaxFrame, Budget: &c.s.budget}
	c.s.stacks.run(func() { err = c.handshake(frames) })
	frames.ReadAhead()
	for err == nil {
		if err = frames.Wait(); err != nil {
			return c.refuse(err)
		}
		c.s.stacks.run(func() { err = c.receive(frames) })
	}
	return err
}

// handshake answers a client's hello and processes its first frame.
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
		_ = c.raw.SetReadDeadline(time.Time{}) // from now on the machine watches the heartbeats
		c.s.apply(core.JoinReceived{Conn: c.id, From: c.from, Join: f})
	case *protocol.StatusFrame:
		c.s.apply(core.StatusRequested{Conn: c.id})
	case *protocol.LogRequestFrame:
		c.s.apply(core.LogsRequested{Conn: c.id, Request: f})
	case *protocol.CancelFrame:
		c.s.apply(core.CancelRequested{Conn: c.id, From: c.from, Cancel: f})
	default:
		return c.refuse(&protocol.FrameError{Type: protocol.TypeOf(f), Err: errors.New("want JOIN, STATUS, LOG_REQUEST or CANCEL as the first frame")})
	}
	return nil
}

// receive processes a frame whose header has been read.
func (c *serverConn) receive(frames *protocol.FrameReader) error {
	f, err := frames.Next()
	if err != nil {
		return c.refuse(err)
	}
	if _, long := f.(*protocol.CompleteFrame); long && !c.s.reserveMember(frames.Size) { // the machine keeps the names of the files
		return c.refuseAs(protocol.ServerFull, protocol.ErrMemory)
	}
	c.s.apply(core.FrameReceived{Conn: c.id, Frame: f})
	return nil
}

// refuse answers an invalid frame, and ends the connection.
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

// refuseVersion answers a rank with another version of the protocol.
func (c *serverConn) refuseVersion(f *protocol.JoinFrame, got uint8) error {
	return c.refuseAs(protocol.VersionDiffers, fmt.Errorf("rank %d speaks %s, this server %s: %s",
		f.Rank, protocol.VersionOf(got, f.Version), protocol.VersionOf(protocol.ProtocolVersion, c.s.cfg.Version), protocol.SameRelease))
}

// refuseAs sends REFUSED, and ends the connection when the client has read it.
func (c *serverConn) refuseAs(code protocol.Code, fault error) error {
	c.s.warn(c, "client refused", fault)
	if code == protocol.Unauthorised {
		c.apply(core.ClientRefused{From: c.from, Why: fault.Error()})
	}
	b, err := protocol.AppendFrame(nil, &protocol.RefusedFrame{Code: code, Reason: protocol.Clip(fault.Error(), protocol.MaxText)})
	if err != nil {
		panic(fmt.Sprintf("BUG: spantree: %v", err))
	}
	c.queue(b)
	c.apply(core.ConnClosed{Conn: c.id, Fault: events.FaultProtocol, Why: fault.Error()})
	c.queue(nil)
	_, _ = io.Copy(io.Discard, c.raw) // until the client closes, or linger has passed
	return fault
}
