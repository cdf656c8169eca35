// SPDX-License-Identifier: Apache-2.0

package client

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/monitor/ranklog"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// scriptedServer is the server's side of a test: the test itself accepts connections, and sends and
// receives frames in an order that it chooses.
type scriptedServer struct {
	t           *testing.T
	network     *mem.Network
	listener    net.Listener
	incarnation uint64
	maxFrame    uint32 // in WELCOME
}

// scripted runs a test in a bubble, where time stands still while frames are on their way.
func scripted(t *testing.T, test func(t *testing.T, s *scriptedServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := mem.New()
		l, err := n.Host("gateway").Listen(t.Context(), ":26543")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		test(t, &scriptedServer{t: t, network: n, listener: l, incarnation: 1, maxFrame: protocol.MaxPayload})
	})
}

// config returns the configuration of rank 1 of 3.
func (s *scriptedServer) config() JoinConfig {
	return JoinConfig{
		Network: s.network.Host("h1"), Server: "gateway:26543", Job: protocol.Job{UniqueID: 7, RunKey: "run"}, Rank: 1, Total: 3,
		Attempt: 99, Advertise: ":30001", Options: "bits=18", LostAfter: 10 * time.Second,
	}
}

// session is a connection of a client.
type session struct {
	t      *testing.T
	conn   net.Conn
	frames *protocol.FrameReader
}

// accept accepts a connection, and completes the handshake.
func (s *scriptedServer) accept() *session {
	s.t.Helper()
	conn, err := s.listener.Accept()
	if err != nil {
		s.t.Fatal(err)
	}
	c := &session{s.t, conn, &protocol.FrameReader{R: conn, Limit: protocol.MaxPayload}}
	s.t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.ReadFull(conn, make([]byte, protocol.HelloSize)); err != nil {
		s.t.Fatal(err)
	}
	c.send(&protocol.WelcomeFrame{Term: 1, Incarnation: s.incarnation, MaxFrame: s.maxFrame, MaxRanks: 100})
	return c
}

// join accepts a connection, and admits the attempt that joins over it.
func (s *scriptedServer) join() (*session, *protocol.JoinFrame) {
	s.t.Helper()
	c := s.accept()
	f := receive[*protocol.JoinFrame](c)
	c.send(&protocol.JoinedFrame{Attempt: f.Attempt, LostAfter: f.LostAfter, Joined: 3, Seen: "h1"})
	return c, f
}

// member returns a member that has joined, and its connection.
func (s *scriptedServer) member(cfg JoinConfig) (*Member, *session) {
	s.t.Helper()
	joined := background(func() (*Member, error) { return Join(s.t.Context(), cfg) })
	c, _ := s.join()
	m, err := joined()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = m.Close() })
	return m, c
}

// wired returns a member whose job has been wired in epoch 1, and its connection.
func (s *scriptedServer) wired(cfg JoinConfig) (*Member, *Wiring, *session) {
	s.t.Helper()
	m, c := s.member(cfg)
	ready := background(func() (*Wiring, error) { return m.Ready(s.t.Context(), protocol.Shard{Examples: 5}) })
	receive[*protocol.ReadyFrame](c)
	c.send(startOf(1, 0, 1, 2))
	w, err := ready()
	if err != nil {
		s.t.Fatal(err)
	}
	return m, w, c
}

// epochOf returns an epoch of the server.
func epochOf(n uint32) protocol.Epoch { return protocol.Epoch{Term: 1, N: n, Incarnation: 1} }

// startOf returns EPOCH_START of an epoch with these ranks.
func startOf(n uint32, ranks ...int) *protocol.EpochStartFrame {
	f := &protocol.EpochStartFrame{Epoch: epochOf(n), Token: [16]byte{byte(n)}}
	for _, r := range ranks {
		f.Members.Append(protocol.Member{Rank: r, Port: 30000 + uint16(r), Host: "h" + string(rune('0'+r))})
	}
	return f
}

// send sends a frame to the client.
func (c *session) send(f protocol.Frame) {
	c.t.Helper()
	b, err := protocol.AppendFrame(nil, f)
	if err == nil {
		_, err = c.conn.Write(b)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// connBuffer is the capacity in bytes of a connection of package mem.
const connBuffer = 64 << 10

// fill fills the connection with frames of the member, except for less than a KiB. The member's next frames wait until the
// test reads.
func (c *session) fill(m *Member) {
	c.t.Helper()
	f := &protocol.LogFrame{Batch: ranklog.Batch{Lines: []string{strings.Repeat("x", 900)}}}
	b, err := protocol.AppendFrame(nil, f)
	for n := 0; err == nil && n < connBuffer/len(b); n++ {
		err = m.write(f)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// next returns the client's next frame that is no heartbeat.
func (c *session) next() protocol.Frame {
	c.t.Helper()
	for {
		f, err := c.frames.Next()
		if err != nil {
			c.t.Fatal(err)
		}
		if _, ok := f.(*protocol.HeartbeatFrame); !ok {
			return f
		}
	}
}

// receive returns the client's next frame that is no heartbeat, which must be of type F.
func receive[F protocol.Frame](c *session) F {
	c.t.Helper()
	f := c.next()
	want, ok := f.(F)
	if !ok {
		c.t.Fatalf("got %v, want %T", protocol.TypeOf(f), want)
	}
	return want
}

// heartbeat returns the client's next heartbeat.
func (c *session) heartbeat() *protocol.HeartbeatFrame {
	c.t.Helper()
	f, err := c.frames.Next()
	if err != nil {
		c.t.Fatal(err)
	}
	beat, ok := f.(*protocol.HeartbeatFrame)
	if !ok {
		c.t.Fatalf("got %v, want a heartbeat", protocol.TypeOf(f))
	}
	return beat
}

// background calls f in a goroutine. The returned function waits for it.
func background[T any](f func() (T, error)) func() (T, error) {
	var got T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		got, err = f()
	}()
	return func() (T, error) {
		<-done
		return got, err
	}
}

// failing is background for a function without a result.
func failing(f func() error) func() error {
	wait := background(func() (struct{}, error) { return struct{}{}, f() })
	return func() error {
		_, err := wait()
		return err
	}
}
