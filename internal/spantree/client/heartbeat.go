// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"fmt"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Waits is what a rank waits for.
type Waits struct {
	Text       string // in words; "": for nothing
	Rank       int    // for this rank; -1: for none
	Collective uint64 // in which it is; 0: in none
}

// sentBeat is a heartbeat whose answer may still come.
type sentHeartbeat struct {
	seq uint64
	at  time.Time
}

// now is the time by the member's clock; the lock is held.
func (m *Member) now() time.Time {
	at, _ := m.clock.Read(time.Now())
	return at
}

// watch gives up the connection to a server that is silent, until stop. It reads the clock
// at least once a heartbeat, so that a pause of this process is none of the server's silence.
func (m *Member) watch() {
	t := time.NewTicker(m.cfg.Heartbeat)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-m.stop:
			return
		}
		m.mu.Lock()
		silent := m.now().Sub(m.heard)
		quiet := m.idle()
		m.mu.Unlock()
		if !quiet && silent > m.cfg.silenceLimit() {
			m.DropConnection(fmt.Errorf("silent for %v", silent.Round(time.Millisecond)))
		}
	}
}

// quiet reports whether nothing is to be sent to the server or expected of it; the lock is held.
func (m *Member) idle() bool {
	return m.serverErr != nil || m.cause != nil || m.gotFinished || m.conn == nil
}

// beat sends heartbeats, and progress with them.
func (m *Member) sendHeartbeats() {
	t := time.NewTicker(m.cfg.Heartbeat)
	defer t.Stop()
	for seq := uint64(1); ; seq++ {
		select {
		case <-t.C:
		case <-m.stop:
			return
		}
		m.mu.Lock()
		quiet := m.idle()
		reported, progress := m.reported, m.progress
		m.sent[seq%uint64(len(m.sent))] = sentHeartbeat{seq, time.Now()}
		m.mu.Unlock()
		if quiet {
			continue
		}
		// Whether a write fails is the reader's business: there may be an EPOCH_END to read.
		w := m.cfg.Waiting()
		err := m.write(&protocol.HeartbeatFrame{Seq: seq, Epoch: m.epoch(), WaitsFor: w.Rank, Collective: w.Collective, Waits: protocol.Clip(w.Text, protocol.MaxWaits)})
		if err == nil && !reported && progress != (protocol.Progress{}) {
			m.mu.Lock()
			m.reported = m.progress == progress
			m.mu.Unlock()
			_ = m.write(&protocol.ReportFrame{Epoch: m.epoch(), Progress: progress})
		}
	}
}

// lease notes the answer to a heartbeat; the lock is held.
func (m *Member) lease(seq uint64) {
	if s := m.sent[seq%uint64(len(m.sent))]; s.seq == seq {
		m.leaseStart = s.at
	}
}

// Lease waits until the server is known to count on this rank: a heartbeat that was
// sent less than LostAfter/2 ago has been answered. Who renames a file to a name that
// another attempt of the rank would use, too, asks for it first: an attempt that was
// stopped and counted as lost gets none.
func (m *Member) Lease(ctx context.Context) error {
	if m.Streams() {
		return nil
	}
	return m.wait(ctx, "hold the lease of the rank", func() bool { return time.Since(m.leaseStart) < m.cfg.LostAfter/2 })
}

// Ask tells the server that the edge to a neighbour stalls, broke, or fails a
// checksum. It returns whether the server has said within a second that it decides who
// is to blame: the end of the epoch follows, or nothing.
func (m *Member) Ask(ctx context.Context, peer int, collective uint64, fault protocol.EdgeFault, detail string) bool {
	if m.Streams() {
		return false
	}
	m.change(func() { delete(m.askAcked, peer) })
	if m.write(&protocol.AskFrame{Epoch: m.epoch(), Peer: peer, Collective: collective, Fault: fault, Detail: protocol.Clip(detail, protocol.MaxText)}) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return m.wait(ctx, "report a neighbour", func() bool { return m.askAcked[peer] }) == nil
}

const askTimeout = time.Second
