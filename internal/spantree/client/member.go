// SPDX-License-Identifier: Apache-2.0

package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/clock"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Member is a rank's membership of a job. It keeps a connection to the server. Its methods are safe
// for concurrent use.
type Member struct {
	cfg        JoinConfig    // immutable, except for Rank, which the reader sets once for a spare
	vwServer   bool          // the server is vw's own: there is no connection between registration and end
	checkpoint uint64        // step of the checkpoint that this rank can read; 0: none
	over       chan struct{} // see Over

	mu              sync.Mutex
	conn            net.Conn              // to the server; nil: none at present
	changed         chan struct{}         // closed and replaced when any of the following fields changes
	waiting         protocol.WaitingFrame // progress of the job before its start
	clock           clock.Clock           // clock of lastFrame and missingSince; it stands still while this process does not run
	missingSince    time.Time             // since when ranks are missing, if any are
	wiring          *Wiring               // of the newest epoch
	ended           chan struct{}         // closed when that epoch has ended; epochCause is then set
	epochCause      error
	previous        *Wiring // wiring of the epoch before
	previousCause   error   // cause of the end of that epoch
	cause           error   // cause by which the job has ended for this rank; nil: it runs
	deliver         *protocol.DeliverFrame
	members         protocol.Members // of an elastic job
	askAcked        map[int]bool     // peers for which the server has acknowledged ASK
	gotFinished     bool
	model           [32]byte         // SHA-256 in FINISHED; valid with gotFinished
	serverErr       error            // the server is lost for good; nil: it is not
	serverLostAt    time.Time        // since when; valid with serverErr
	server          uint64           // incarnation, as in WELCOME
	maxFrame        int              // largest payload that the server accepts, in bytes, as in WELCOME
	serverRestarted bool             // it is not the server that this rank has joined first
	lastFrame       time.Time        // from the server
	leaseStart      time.Time        // time at which the first JOIN or the newest acknowledged heartbeat was sent
	lostAfter       time.Duration    // silence after which the server considers this rank lost, from JOINED
	sent            [8]sentHeartbeat // the newest ones, by seq modulo 8
	progress        protocol.Progress
	reported        bool             // progress was sent
	exchanges       int              // answers to CLOCK
	closing         bool             // Close was called
	left            bool             // Close was called before the end of the job
	pendingEnd      error            // cause in a final EPOCH_END after which VERDICT is due; nil: none
	verdictWithin   time.Duration    // in which VERDICT is due after a final EPOCH_END; 0: it does not follow
	leaveReason     string           // why this attempt leaves early; "": it does not
	replayLog       []protocol.Frame // frames that a restarted server must get again, in their order

	writing sync.Mutex    // held while a frame is written
	buf     []byte        // of the newest frames, reused; guarded by writing
	stop    chan struct{} // closed by Close: ends the heartbeats
	stopped sync.Once
	work    sync.WaitGroup // the reader, the watcher, and the senders of heartbeats, CLOCK, events and log lines
}

// newMember starts the goroutines of a member that has joined over conn by a JOIN of this time.
func newMember(cfg JoinConfig, conn net.Conn, frames *protocol.FrameReader, joined *protocol.JoinedFrame, at time.Time) *Member {
	ctx, cancel := context.WithCancel(context.Background())
	m := &Member{
		cfg: cfg, checkpoint: cfg.Checkpoint, conn: conn, over: make(chan struct{}), changed: make(chan struct{}), stop: make(chan struct{}),
		waiting: protocol.WaitingFrame{Joined: joined.Joined, Total: uint32(cfg.Total), Report: "the server has not reported the missing ranks yet"},
		server:  frames.Server, maxFrame: frames.MaxFrame, members: joined.Members,
		clock: clock.Clock{Tick: cfg.Heartbeat}, leaseStart: at, lostAfter: cmp.Or(joined.LostAfter, cfg.LostAfter), askAcked: map[int]bool{},
	}
	m.lastFrame = m.now()
	m.missingSince = m.lastFrame
	m.work.Go(func() {
		m.watch()
		cancel()
	})
	m.work.Go(func() { m.read(ctx, frames) })
	m.work.Go(m.sendHeartbeats)
	m.work.Go(m.askClock)
	if cfg.Logs != nil {
		m.work.Go(m.sendLogs)
	}
	return m
}

// Over returns a channel that is closed when the job has ended for this rank: it has failed, or
// this attempt is no longer a member. It is not closed at the end of an epoch that another one
// follows; see Ended.
func (m *Member) Over() <-chan struct{} { return m.over }

// Cause returns why the job has ended for this rank, or nil while it runs. The error is a
// *LostError or a *RefusedError, with the same root cause on every rank.
func (m *Member) Cause() error {
	if m.vwServer {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cause
}

// ServerErr returns why the server is lost for good, or nil while it is connected or may come back.
func (m *Member) ServerErr() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.serverErr == nil {
		return nil
	}
	return m.serverError("go on after a loss", m.serverErr)
}

// Report sets the progress that the next heartbeat carries to the server.
func (m *Member) Report(p protocol.Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.Step = protocol.Clip(p.Step, protocol.MaxStep)
	m.progress, m.reported = p, false
}

// Fail ends the job on all ranks, and waits until the server has received it. The reason is for
// people. The detail, at most 1,024 bytes, is for the programs of the other ranks; "": none.
//
// The time until the deadline of ctx limits the wait for the server, and counts from the end of the message's write. Log lines
// before the message take up to half of that time. The write itself does not depend on ctx: a message that is sent in part
// would end the connection.
func (m *Member) Fail(ctx context.Context, reason, detail string) error {
	if m.vwServer {
		return nil // vw's server has no such message
	}
	limit := writeTimeout
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end))
	}
	m.sendEvents()
	m.giveReason(ctx, min(lastLogs, limit/2), "this rank gives up", reason)
	if err := m.write(&protocol.FailFrame{Epoch: m.epoch(), Reason: protocol.Clip(strings.Join(strings.Fields(reason), " "), protocol.MaxText), Detail: detail}); err != nil {
		return m.writeError("end the job", err)
	}
	within, cancel := renewed(ctx, limit)
	defer cancel()
	err := m.wait(within, "end the job", func() bool { return m.gotFinished })
	if m.Cause() != nil {
		return nil // EPOCH_END: the server has received it, or another rank has failed before
	}
	return err
}

// renewed returns a context that ends after a time, or when ctx is cancelled. It does not end at the deadline of ctx.
func renewed(ctx context.Context, within time.Duration) (context.Context, context.CancelFunc) {
	cancelled, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			cancel(context.Cause(ctx))
		}
	})
	limited, end := context.WithTimeout(cancelled, within)
	return limited, func() {
		stop()
		end()
		cancel(nil)
	}
}

// SetLeaveReason sets the reason that Close sends to the server if this attempt leaves before the
// end. Another attempt may then take its place.
func (m *Member) SetLeaveReason(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leaveReason = why
}

// Close leaves the job unless it has ended, closes the connection, and waits for the goroutines of
// the member. It is idempotent.
func (m *Member) Close() error {
	if m.vwServer {
		return nil
	}
	var first, ended bool
	var why string
	m.change(func() {
		first = !m.closing
		m.closing = true
		ended = m.gotFinished || m.cause != nil || m.serverErr != nil
		m.left = m.left || !ended
		why = cmp.Or(m.leaveReason, "closed")
	})
	if !first {
		m.work.Wait()
		return nil
	}
	switch {
	case ended:
	case why == "closed":
		m.sendLastLogs(context.Background(), lastLogs)
	default:
		m.sendEvents()
		m.giveReason(context.Background(), lastLogs, "this rank leaves", why)
	}
	if !ended && m.write(&protocol.LeaveFrame{Epoch: m.epoch(), Reason: protocol.Clip(why, protocol.MaxText)}) == nil {
		ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
		_ = m.wait(ctx, "leave", func() bool { return m.gotFinished }) // the server may be lost or slow
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

// Disconnect closes the connection to the server.
func (m *Member) Disconnect() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn == nil {
		return nil
	}
	return m.conn.Close()
}

// epoch returns the newest epoch; zero before the wiring.
func (m *Member) epoch() protocol.Epoch {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wiring == nil {
		return protocol.Epoch{}
	}
	return m.wiring.Epoch
}

// change makes a change that others may wait for.
func (m *Member) change(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	close(m.changed)
	m.changed = make(chan struct{})
}

// wait returns nil when ready returns true; ready is called with the lock held. It returns an error
// when that cannot happen any more: the job has ended, the server is lost, or ctx has ended.
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

// waitUnlessLeft is wait for an event of the job. It returns ErrClosed if Close was called before the end of the job: the
// server answers LEAVE by FINISHED, too.
func (m *Member) waitUnlessLeft(ctx context.Context, doing string, ready func() bool) error {
	left := false
	err := m.wait(ctx, doing, func() bool {
		left = m.left
		return left || ready()
	})
	if left {
		return ErrClosed
	}
	return err
}

// serverError returns an error for an operation that needs the server, which is lost.
func (m *Member) serverError(doing string, err error) error {
	return &protocol.ServerError{Server: m.cfg.Server, Doing: doing, Err: err}
}

// ErrClosed is returned by the waits of a member that has left its job by Close.
var ErrClosed = errors.New("the member has left the job: Close was called")

var errNoServer = errors.New("the connection to the server has ended")

// write sends frames.
func (m *Member) write(frames ...protocol.Frame) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	m.mu.Lock()
	conn := m.conn
	m.mu.Unlock()
	if conn == nil {
		return errNoServer
	}
	return m.writeTo(conn, frames...)
}

// writeTo sends frames over conn, all in one write. A frame over its limits is not sent, which is
// an error. The caller holds m.writing.
//
// A write that is late may have sent a part of a frame, so it ends the connection. After any other error of a
// write nothing more can be sent. The connection then remains for the reader: an EPOCH_END may still be unread.
func (m *Member) writeTo(conn net.Conn, frames ...protocol.Frame) error {
	b, errs := m.buf[:0], error(nil)
	for _, f := range frames {
		var err error
		b, err = protocol.AppendFrame(b, f)
		errs = errors.Join(errs, err)
	}
	if m.buf = b; len(b) == 0 {
		return errs
	}
	_ = conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := conn.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		m.DropConnection(fmt.Errorf("it has not read a message within %v: %w", writeTimeout, err))
	}
	return errors.Join(errs, err)
}

// sendLogged sends a frame that a restarted server must get again, and adds it to the replay log. A frame over
// its limits is an error, and is not added: it could never be sent.
func (m *Member) sendLogged(f protocol.Frame) error {
	if _, err := protocol.AppendFrame(nil, f); err != nil {
		return err
	}
	m.mu.Lock()
	m.replayLog = append(m.replayLog, f)
	m.mu.Unlock()
	err := m.write(f)
	if m.cfg.reconnects() {
		return nil // the replay log repeats it
	}
	return err
}
