// SPDX-License-Identifier: Apache-2.0

package client

import (
	"cmp"
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/clock"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Member is a rank's membership of a job: its connection to the server. Its
// methods may be called by several goroutines.
type Member struct {
	cfg        JoinConfig    // its Rank may be written once, by the reader: a spare's
	vwServer   bool          // the server is vw's own
	checkpoint uint64        // the step of the one that this rank can read
	over       chan struct{} // see Over

	mu              sync.Mutex
	conn            net.Conn              // to the server; nil: there is none
	changed         chan struct{}         // closed and replaced when any of the following changes
	waiting         protocol.WaitingFrame // how far the job is
	clock           clock.Clock           // of heard and short: it stands still while this process does not run
	missingSince    time.Time             // since when ranks are missing, if any are
	wiring          *Wiring               // the newest
	ended           chan struct{}         // closed: it is over, as is why
	epochCause      error
	previous        *Wiring // the one before it
	previousCause   error   // why that is over
	cause           error   // the job is over for this rank
	deliver         *protocol.DeliverFrame
	members         protocol.Members // of Elastic
	askAcked        map[int]bool     // ranks of whom the server decides, see Ask
	gotFinished     bool
	model           [32]byte // of bye
	serverErr       error    // the server has gone for good
	server          uint64   // which one it is, see WelcomeFrame.Incarnation
	serverRestarted bool     // it is not the one that this rank has joined first
	heard           time.Time
	leaseStart      time.Time // when the newest heartbeat was sent that has been answered
	sent            [8]sentHeartbeat
	progress        protocol.Progress
	reported        bool // progress was sent
	closing         bool
	leaveReason     string           // why, if it leaves before the end
	replayLog       []protocol.Frame // what a server must hear again that has forgotten it

	writing sync.Mutex // one frame at a time
	buf     []byte
	stop    chan struct{} // ends the heartbeats
	stopped sync.Once
	work    sync.WaitGroup // the reader and the heartbeats
}

func newMember(cfg JoinConfig, conn net.Conn, frames *protocol.FrameReader, joined *protocol.JoinedFrame) *Member {
	ctx, cancel := context.WithCancel(context.Background())
	m := &Member{
		cfg: cfg, checkpoint: cfg.Checkpoint, conn: conn, over: make(chan struct{}), changed: make(chan struct{}), stop: make(chan struct{}),
		waiting: protocol.WaitingFrame{Joined: joined.Joined, Total: uint32(cfg.Total), Report: "the server has not said yet who is missing"},
		server:  frames.Server, members: joined.Members,
		clock: clock.Clock{Tick: cfg.Heartbeat}, leaseStart: time.Now(), askAcked: map[int]bool{},
	}
	m.heard = m.now()
	m.missingSince = m.heard
	m.work.Go(func() {
		m.watch()
		cancel()
	})
	m.work.Go(func() { m.read(ctx, frames) })
	m.work.Go(m.sendHeartbeats)
	return m
}

// Over is closed when the job is over for this rank: it has failed, or this attempt
// is no part of it any more. The end of an epoch that another one follows is not it:
// see Ended.
func (m *Member) Over() <-chan struct{} { return m.over }

// Cause is why the job is over, nil while it goes on: a *LostError or a
// *RefusedError, with the same root cause on every rank.
func (m *Member) Cause() error {
	if m.vwServer {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cause
}

// Gone is why the server is given up, nil while it is there or may come back.
func (m *Member) ServerErr() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.serverErr == nil {
		return nil
	}
	return m.serverError("go on after a loss", m.serverErr)
}

// Report tells the server how far this rank is, at the next heartbeat.
func (m *Member) Report(p protocol.Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.Step = protocol.Clip(p.Step, protocol.MaxStep)
	m.progress, m.reported = p, false
}

// Fail tells the others why this rank gives up: it ends the job. It waits
// until the server has heard it. The reason is for people; the detail, of at most 1,024
// bytes, for the other ranks' programs, "": none.
func (m *Member) Fail(ctx context.Context, reason, detail string) error {
	if m.vwServer {
		return nil // nobody there would listen
	}
	if err := m.write(&protocol.FailFrame{Epoch: m.epoch(), Reason: protocol.Clip(strings.Join(strings.Fields(reason), " "), protocol.MaxText), Detail: detail}); err != nil {
		return m.writeError("end the job", err)
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	err := m.wait(ctx, "end the job", func() bool { return m.gotFinished })
	if m.Cause() != nil {
		return nil // EPOCH_END: the server has heard it, or somebody else was first
	}
	return err
}

// Leaving says why this attempt leaves before the end of the job, for Close to tell the
// server: another attempt may take its place.
func (m *Member) SetLeaveReason(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leaveReason = why
}

// Close leaves the job, if it is not over, and ends the membership. It waits
// for its goroutines and is idempotent.
func (m *Member) Close() error {
	if m.vwServer {
		return nil
	}
	m.mu.Lock()
	first := !m.closing
	m.closing = true
	ended := m.gotFinished || m.cause != nil || m.serverErr != nil
	why := cmp.Or(m.leaveReason, "closed")
	m.mu.Unlock()
	if !first {
		m.work.Wait()
		return nil
	}
	if !ended && m.write(&protocol.LeaveFrame{Epoch: m.epoch(), Reason: protocol.Clip(why, protocol.MaxText)}) == nil {
		ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
		_ = m.wait(ctx, "leave", func() bool { return m.gotFinished }) // the server may be gone or slow: we go
		cancel()
	}
	m.stopped.Do(func() { close(m.stop) })
	err := m.Disconnect()
	m.work.Wait()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return err
}

// HangUp closes the connection to the server.
func (m *Member) Disconnect() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn == nil {
		return nil
	}
	return m.conn.Close()
}

func (m *Member) epoch() protocol.Epoch {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wiring == nil {
		return protocol.Epoch{}
	}
	return m.wiring.Epoch
}

// update changes what others wait for.
func (m *Member) change(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	close(m.changed)
	m.changed = make(chan struct{})
}

// wait returns when ready says so, under the lock, or with the reason why it
// never will: the job is over, the server is gone, ctx has ended.
func (m *Member) wait(ctx context.Context, doing string, ready func() bool) error {
	for {
		m.mu.Lock()
		ok, changed := ready(), m.changed
		cause, gone := m.cause, m.serverErr
		m.mu.Unlock()
		switch {
		case ok:
			return nil
		case cause != nil:
			return cause
		case gone != nil:
			return m.serverError(doing, gone)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (m *Member) serverError(doing string, err error) error {
	return &protocol.ServerError{Server: m.cfg.Server, Doing: doing, Err: err}
}

var errNoServer = errors.New("the connection to the server has ended")

// write sends a frame.
func (m *Member) write(f protocol.Frame) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	m.mu.Lock()
	conn := m.conn
	m.mu.Unlock()
	if conn == nil {
		return errNoServer
	}
	return m.writeTo(conn, f)
}

// writeTo is write for who holds m.writing.
func (m *Member) writeTo(conn net.Conn, f protocol.Frame) error {
	b, err := protocol.AppendFrame(m.buf[:0], f)
	if err != nil {
		return err
	}
	m.buf = b
	_ = conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err = conn.Write(b)
	return err
}

// declare sends a frame that a server must know: one that comes back hears it again.
func (m *Member) sendLogged(f protocol.Frame) error {
	m.mu.Lock()
	m.replayLog = append(m.replayLog, f)
	m.mu.Unlock()
	err := m.write(f)
	if m.cfg.reconnects() {
		return nil // it will be said when the server is back
	}
	return err
}
