// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/timeline/offset"
)

// Clock is a clock whose offset from the server's is to be known. Its methods are called by several goroutines, and must
// return at once.
type Clock interface {
	// Nanos returns what the clock shows at a time, in nanoseconds.
	Nanos(at time.Time) int64
	// Exchanged gets the result of an exchange. reference is the number of the server's clock.
	Exchanged(s offset.Sample, reference uint64)
}

// firstExchanges is the number of exchanges, one after the other, after the rank has joined: a short job has no others.
// Later there is one after each heartbeat.
const firstExchanges = 16

// askClock sends CLOCK, if there is a clock to compare.
func (m *Member) askClock() {
	if m.cfg.Clock == nil {
		return
	}
	_ = m.write(&protocol.ClockFrame{Sent: uint64(m.cfg.Clock.Nanos(time.Now()))}) // an exchange may be missing
}

// onClockAnswer passes the exchange on. Of the first exchanges each one starts the next.
func (m *Member) onClockAnswer(f *protocol.ClockAnswerFrame) {
	now := time.Now()
	if m.cfg.Clock == nil {
		return // it was not asked
	}
	m.change(func() {
		m.lastFrame = m.now()
		m.exchanges++
		if m.exchanges < firstExchanges && !m.closing {
			m.work.Go(m.askClock) // the reader does not wait for the connection
		}
	})
	m.cfg.Clock.Exchanged(offset.Sample{Sent: int64(f.Sent), Received: m.cfg.Clock.Nanos(now), Remote: int64(f.Time)}, f.Clock)
}
