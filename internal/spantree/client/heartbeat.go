// SPDX-License-Identifier: Apache-2.0

package client

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Waits is the event that a rank waits for.
type Waits struct {
	Text       string // in words; "": none
	Rank       int    // from which it must come; -1: none
	Collective uint64 // current collective; 0: none
}

// sentHeartbeat is a heartbeat that the server may still acknowledge.
type sentHeartbeat struct {
	seq uint64
	at  time.Time
}

// now returns the time of the member's clock, which stands still while this process does not run.
// The caller holds the lock.
func (m *Member) now() time.Time {
	at, _ := m.clock.Read(time.Now())
	return at
}

// watch closes the connection when the server has been silent for too long, until stop. It reads
// the clock at each heartbeat, so that a pause of this process does not count as silence of the
// server.
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
		silent, limit := m.now().Sub(m.lastFrame), m.silenceLimit()
		quiet := m.idle()
		m.mu.Unlock()
		if !quiet && silent > limit {
			m.DropConnection(fmt.Errorf("silent for %v", silent.Round(time.Millisecond)))
		}
	}
}

// idle reports whether there is nothing to send to the server, nor to expect from it. The caller
// holds the lock.
func (m *Member) idle() bool {
	return m.serverErr != nil || m.cause != nil || m.gotFinished || m.conn == nil
}

const (
	perSecond  = 500             // heartbeats that a server gets from a job in one second, up to a limit of their interval
	maxRegular = 5 * time.Second // that limit: pages and the graph of waiting ranks are as old as a heartbeat
)

// usualHeartbeat returns the interval of heartbeats in a job of total ranks: 1 s, or longer above perSecond ranks, so that
// the server's work in a second does not grow with the job. At least four intervals fit in lostAfter.
func usualHeartbeat(total int, lostAfter time.Duration) time.Duration {
	return max(time.Second, min(time.Duration(total)*time.Second/perSecond, lostAfter/4, maxRegular))
}

// sendHeartbeats sends heartbeats until stop, each followed by the progress if that has changed, and by the counts.
func (m *Member) sendHeartbeats() {
	t := time.NewTicker(m.cfg.Heartbeat)
	defer t.Stop()
	var frames []protocol.Frame
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
		// A failed write is ignored here. The reader handles the end of the connection, because an
		// EPOCH_END may still be unread.
		w := m.cfg.Waiting()
		if w.Rank >= 0 || w.Text != "" {
			m.cfg.Events.Add(events.Event{Kind: events.Wait, Number: w.Collective, Peer: w.Rank, Name: w.Text}, time.Now())
		}
		// One write for all, so that the server wakes up once.
		frames = append(frames[:0], &protocol.HeartbeatFrame{Seq: seq, Epoch: m.epoch(), WaitsFor: w.Rank, Collective: w.Collective, Waits: protocol.Clip(w.Text, protocol.MaxWaits)})
		report := !reported && progress != (protocol.Progress{})
		if report {
			frames = append(frames, &protocol.ReportFrame{Epoch: m.epoch(), Progress: progress})
		}
		if seq%m.trafficEvery() == 0 {
			frames = m.appendTraffic(frames)
		}
		if err := m.write(frames...); err == nil && report {
			m.mu.Lock()
			m.reported = m.progress == progress
			m.mu.Unlock()
		}
		m.askClock()
	}
}

// bigJob is the number of ranks above which counts are sent less often, so that the server's work for them does not grow.
const bigJob = 1024

// trafficEvery returns the number of heartbeats from one TRAFFIC to the next.
func (m *Member) trafficEvery() uint64 { return 1 + uint64(m.cfg.Total-1)/bigJob }

// appendTraffic appends the counts of this rank, if there are any.
func (m *Member) appendTraffic(frames []protocol.Frame) []protocol.Frame {
	if m.cfg.Traffic == nil || m.rank() < 0 {
		return frames
	}
	if c := m.cfg.Traffic(); c != nil {
		frames = append(frames, &protocol.TrafficFrame{Counts: *c})
	}
	return frames
}

// lease records the acknowledgement of a heartbeat. The caller holds the lock.
func (m *Member) lease(seq uint64) {
	if s := m.sent[seq%uint64(len(m.sent))]; s.seq == seq {
		m.leaseStart = s.at
	}
}

// Lease waits until the server has acknowledged a heartbeat, or the first JOIN, that was sent less
// than LostAfter/2 ago. LostAfter is the value in JOINED. An attempt must have the lease before it
// renames a file to its final name. The server lets a replacement deliver files only LostAfter/2
// after its last acknowledgement to the lost attempt, so no two attempts rename at the same time.
// An attempt that was considered lost gets no lease, nor does one whose job has failed. If the job has
// finished without this attempt, Lease returns a *FinishedError.
func (m *Member) Lease(ctx context.Context) error {
	if m.Streams() {
		return nil // vw's protocol has no heartbeats, and no rank is replaced
	}
	var over error
	err := m.wait(ctx, "hold the lease of the rank", func() bool {
		held := m.cause == nil && m.pendingEnd == nil && time.Since(m.leaseStart) < m.lostAfter/2
		if !held && m.gotFinished { // there are no further heartbeats
			over = m.finishedError()
		}
		return held || m.gotFinished
	})
	return cmp.Or(err, over)
}

// Ask reports to the server that the edge to a neighbour stalls, broke, or fails a checksum. It
// returns true if the server acknowledges this within a second. The epoch then ends if the server
// charges an edge.
func (m *Member) Ask(ctx context.Context, peer int, collective uint64, fault protocol.EdgeFault, detail string) bool {
	return m.ask(ctx, m.epoch(), peer, collective, fault, detail)
}

// AskAbout is Ask for an edge of the epoch of w, which may have ended: the server then ignores the
// report.
func (m *Member) AskAbout(ctx context.Context, w *Wiring, peer int, fault protocol.EdgeFault, detail string) bool {
	return m.ask(ctx, w.Epoch, peer, 0, fault, detail)
}

func (m *Member) ask(ctx context.Context, e protocol.Epoch, peer int, collective uint64, fault protocol.EdgeFault, detail string) bool {
	if m.Streams() {
		return false
	}
	m.change(func() { delete(m.askAcked, peer) }) // an acknowledgement of an earlier ASK does not count
	if m.write(&protocol.AskFrame{Epoch: e, Peer: peer, Collective: collective, Fault: fault, Detail: protocol.Clip(detail, protocol.MaxText)}) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return m.wait(ctx, "report a neighbour", func() bool { return m.askAcked[peer] }) == nil
}
