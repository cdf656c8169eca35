// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// verdictGrace is the time for which a rank waits for VERDICT in addition to the server's limit.
const verdictGrace = 500 * time.Millisecond

// onCollect sends the last events of this rank. It does not delay the reader, which may have an
// EPOCH_END to process.
func (m *Member) onCollect(f *protocol.CollectFrame) {
	var size int
	m.change(func() {
		m.lastFrame = m.now()
		m.verdictWithin = f.Verdict
		size = protocol.AskedEvents(m.maxFrame)
	})
	answer := protocol.NewEvents(f.Number, m.cfg.Events.Last(time.Now(), int(min(f.Limit, protocol.MaxEvents))), size)
	m.work.Go(func() { _ = m.write(answer) }) // the server does not wait for a rank that cannot answer
}

// sendEvents sends the newest events before this rank gives up or leaves: they have the class of
// its error.
func (m *Member) sendEvents() {
	if all := m.cfg.Events.Last(time.Now(), protocol.MaxEvents); len(all) > 0 {
		_ = m.write(protocol.NewEvents(0, all, protocol.UnaskedEvents)) // the next frame reports the error of the connection
	}
}

// awaitVerdict limits the time until VERDICT. The reader notices the end of that time. The caller
// holds the lock.
func (m *Member) awaitVerdict() {
	if m.conn != nil {
		_ = m.conn.SetReadDeadline(time.Now().Add(m.verdictWithin + verdictGrace))
	}
}

// endPending ends the job on this rank if its final EPOCH_END has come: with the cause in VERDICT,
// or without one, since the connection has ended or VERDICT is late.
func (m *Member) endPending(verdict string) {
	m.mu.Lock()
	pending := m.pendingEnd
	m.mu.Unlock()
	if pending == nil {
		return
	}
	m.change(func() {
		m.pendingEnd = nil
		if lost, ok := pending.(*protocol.LostError); ok {
			lost.Cause = verdict
		}
		if verdict != "" {
			m.cfg.Log.Error("cause of the failure", "rank", m.cfg.Rank, "cause", verdict)
		}
		m.end(pending)
	})
}
