// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Member is a rank's membership of a job: its connection to the server. Its
// methods may be called by several goroutines.
type Member struct {
	cfg     JoinConfig
	conn    net.Conn
	foreign bool          // the server is vw's own
	over    chan struct{} // see Over

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced when any of the following changes
	waiting  waitingFrame  // how far the job is
	short    time.Time     // since when ranks are missing, if any are
	wiring   *Wiring
	cause    error
	deliver  *deliverFrame
	bye      bool
	gone     error // the connection to the server has ended
	heard    time.Time
	progress Progress
	reported bool // progress was sent
	closing  bool

	writing sync.Mutex // one frame at a time
	buf     []byte
	stop    chan struct{} // ends the heartbeats
	stopped sync.Once
	work    sync.WaitGroup // the reader and the heartbeats
}

func newMember(cfg JoinConfig, conn net.Conn, frames *frameReader, joined *joinedFrame) *Member {
	m := &Member{
		cfg: cfg, conn: conn, over: make(chan struct{}), changed: make(chan struct{}), stop: make(chan struct{}),
		waiting: waitingFrame{Joined: joined.Joined, Total: uint32(cfg.Total), Report: "the server has not said yet who is missing"},
		heard:   time.Now(), short: time.Now(),
	}
	m.work.Go(func() { m.read(frames) })
	m.work.Go(m.beat)
	return m
}

// Over is closed when the epoch has ended.
func (m *Member) Over() <-chan struct{} { return m.over }

// Cause is why the epoch has ended, nil while it goes on: a *LostError or a
// *RefusedError, with the same root cause on every rank.
func (m *Member) Cause() error {
	if m.foreign {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cause
}

// Report tells the server how far this rank is, at the next heartbeat.
func (m *Member) Report(p Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.Step = clip(p.Step, maxStep)
	m.progress, m.reported = p, false
}

// Fail tells the others why this rank gives up: it ends the job. It waits
// until the server has heard it.
func (m *Member) Fail(ctx context.Context, reason string) error {
	if m.foreign {
		return nil // nobody there would listen
	}
	if err := m.write(&failFrame{Epoch: m.epoch(), Reason: clip(reason, maxWords)}); err != nil {
		return m.failed("end the job", err)
	}
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	err := m.wait(ctx, "end the job", func() bool { return m.bye })
	if m.Cause() != nil {
		return nil // OVER: the server has heard it, or somebody else was first
	}
	return err
}

// Close leaves the job, if it is not over, and ends the membership. It waits
// for its goroutines and is idempotent.
func (m *Member) Close() error {
	if m.foreign {
		return nil
	}
	m.mu.Lock()
	first := !m.closing
	m.closing = true
	ended := m.bye || m.cause != nil || m.gone != nil
	m.mu.Unlock()
	if !first {
		m.work.Wait()
		return nil
	}
	if !ended && m.write(&leaveFrame{Epoch: m.epoch(), Reason: "closed"}) == nil {
		ctx, cancel := context.WithTimeout(context.Background(), farewellFor)
		_ = m.wait(ctx, "leave", func() bool { return m.bye }) // the server may be gone or slow: we go
		cancel()
	}
	m.stopped.Do(func() { close(m.stop) })
	err := m.conn.Close()
	m.work.Wait()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return err
}

func (m *Member) epoch() Epoch {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wiring == nil {
		return Epoch{}
	}
	return m.wiring.Epoch
}

// update changes what others wait for.
func (m *Member) update(change func()) {
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
		cause, gone := m.cause, m.gone
		m.mu.Unlock()
		switch {
		case ok:
			return nil
		case cause != nil:
			return cause
		case gone != nil:
			return m.away(doing, gone)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (m *Member) away(doing string, err error) error {
	return &ServerError{Server: m.cfg.Server, Doing: doing, Err: err}
}

// write sends a frame.
func (m *Member) write(f frame) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	b, err := appendFrame(m.buf[:0], f)
	if err != nil {
		return err
	}
	m.buf = b
	_ = m.conn.SetWriteDeadline(time.Now().Add(writeWithin))
	_, err = m.conn.Write(b)
	return err
}

// read takes what the server says, until the connection ends.
func (m *Member) read(frames *frameReader) {
	for {
		f, err := frames.next()
		if err != nil {
			m.lose(err)
			return
		}
		m.take(f)
	}
}

// lose notes that the connection to the server has ended. The rank works on:
// it needs the server again when something is lost, or at the end.
func (m *Member) lose(err error) {
	m.update(func() {
		if m.gone != nil {
			return
		}
		m.gone = err
		if !m.closing && !m.bye && m.cause == nil {
			m.cfg.Log.Warn("the server has gone, working on without it", "server", m.cfg.Server, "rank", m.cfg.Rank, "error", err)
		}
	})
}

func (m *Member) take(f frame) {
	m.update(func() {
		m.heard = time.Now()
		switch f := f.(type) {
		case *waitingFrame:
			if m.waiting.complete() && !f.complete() {
				m.short = m.heard
			}
			m.waiting = *f
		case *startFrame:
			m.wiring = f.wiring(m.cfg.Total)
		case *wireFrame:
			m.wiring = f.wiring()
		case *overFrame:
			m.end(f.Cause.err(m.cfg))
		case *refusedFrame:
			m.end(&RefusedError{Server: m.cfg.Server, Code: f.Code, Reason: f.Reason, Model: f.Model})
		case *fencedFrame:
			m.end(&RefusedError{Server: m.cfg.Server, Code: AttemptFenced, Reason: f.Reason})
		case *deliverFrame:
			m.deliver = f
		case *byeFrame:
			m.bye = true
		}
		// BEATEN says no more than that the server lives; DECIDING and STANDBY
		// are for what a server of this version does not do.
	})
}

// end notes the first cause; the lock is held.
func (m *Member) end(cause error) {
	if m.cause == nil {
		m.cause = cause
		close(m.over)
	}
}

// err is the cause as every rank's methods return it.
func (c cause) err(cfg JoinConfig) error {
	if c.Kind == causeRefused {
		return &RefusedError{Server: cfg.Server, Code: c.Code, Reason: c.Why}
	}
	return &LostError{Job: cfg.Job, Rank: c.Rank, Host: c.Host, Why: c.Why, GaveUp: c.Kind == causeGaveUp}
}

// beat sends heartbeats, and progress with them.
func (m *Member) beat() {
	t := time.NewTicker(m.cfg.Heartbeat)
	defer t.Stop()
	for seq := uint64(1); ; seq++ {
		select {
		case <-t.C:
		case <-m.stop:
			return
		}
		m.mu.Lock()
		quiet := m.gone != nil || m.cause != nil || m.bye
		silent, reported, progress := time.Since(m.heard), m.reported, m.progress
		m.mu.Unlock()
		if quiet {
			continue
		}
		if silent > m.cfg.ServerTimeout {
			m.lose(fmt.Errorf("silent for %v", silent.Round(time.Millisecond)))
			_ = m.conn.Close()
			continue
		}
		// Whether a write fails is the reader's business: there may be an OVER to read.
		err := m.write(&beatFrame{Seq: seq, Epoch: m.epoch(), WaitsFor: -1, Waits: clip(m.cfg.Waiting(), maxWaits)})
		if err == nil && !reported && progress != (Progress{}) {
			m.mu.Lock()
			m.reported = m.progress == progress
			m.mu.Unlock()
			_ = m.write(&reportFrame{Epoch: m.epoch(), Progress: progress})
		}
	}
}
