// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"fmt"
	"slices"
	"time"
)

// Config configures a monitor. Both times are positive.
type Config struct {
	Silence time.Duration // without a byte, after which a connection is broken
	Again   time.Duration // between two reports of the same fault
}

// Report is a broken connection.
type Report struct {
	Rank int   // the far end
	Err  error // why it is broken
}

// Monitor observes the connections of one epoch. It is not safe for concurrent use.
type Monitor struct {
	Config
	conns    map[int]*conn
	faults   []Report // oldest first, one for each connection
	reported time.Time
	next     int // number of reports so far
}

// conn is what the monitor knows of a connection.
type conn struct {
	bytes int64
	moved time.Time // when bytes last grew, or this rank did not read
}

// New returns a monitor without connections.
func New(c Config) *Monitor { return &Monitor{Config: c, conns: map[int]*conn{}} }

// Observe passes the number of bytes that have been read on the connection to a rank. stopped
// reports that this rank does not read on it at present.
func (m *Monitor) Observe(rank int, bytes int64, stopped bool, now time.Time) {
	c := m.conns[rank]
	if c == nil {
		c = &conn{bytes: bytes, moved: now}
		m.conns[rank] = c
	}
	if bytes != c.bytes || stopped {
		c.bytes, c.moved = bytes, now
	}
	if silent := now.Sub(c.moved); silent >= m.Silence {
		m.Failed(rank, fmt.Errorf("nothing has arrived from rank %d for %v", rank, silent.Round(time.Millisecond)))
	}
}

// Failed passes a failure of the connection to a rank. The first one of each connection counts.
func (m *Monitor) Failed(rank int, err error) {
	if !slices.ContainsFunc(m.faults, func(r Report) bool { return r.Rank == rank }) {
		m.faults = append(m.faults, Report{rank, err})
	}
}

// Report returns the broken connection to report now, if a report is due. Repeated reports go over
// all broken connections in turn: the server may already have decided about the first.
func (m *Monitor) Report(now time.Time) (r Report, due bool) {
	if len(m.faults) == 0 || m.next > 0 && now.Sub(m.reported) < m.Again {
		return Report{}, false
	}
	r = m.faults[m.next%len(m.faults)]
	m.next++
	m.reported = now
	return r, true
}
