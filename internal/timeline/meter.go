// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"io"
	"maps"
	"strconv"
	"sync"
	"time"
)

// Meter is a writer for New that adds up what a rank does in each step, for programs that need no trace.
type Meter struct {
	Trace io.Writer       // also gets the trace; nil: none is written
	Step  func(StepTimes) // called after each step, by the goroutine that has made it

	mu    sync.Mutex
	lists lists
	times StepTimes // of the step under way
	begun bool      // Began is known
}

// StepTimes are the times of a rank in a step of its job.
type StepTimes struct {
	Began, Ended   time.Time // Began is the end of the step before
	Parts          [Parts]time.Duration
	Sent, Received map[int]uint64 // bytes, by the rank of the other end
}

// Commit is the name of the span that ends a step.
const Commit = "commit"

// manySpans is the number of parts of vectors in a step above which those that touch are joined, to bound memory.
const manySpans = 2048

// Write passes the trace on.
func (m *Meter) Write(b []byte) (int, error) {
	if m.Trace == nil {
		return len(b), nil
	}
	return m.Trace.Write(b)
}

// span adds a span. At the end of a step it calls Step.
func (m *Meter) span(row Row, name string, began, ended time.Time, bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.begun {
		m.begun, m.times.Began = true, began
	}
	s := Interval{began.UnixMicro(), ended.UnixMicro()}
	if s.Lo < s.Hi {
		m.lists.add(row, name, s)
	}
	if list := &m.lists.moves; len(*list) == cap(*list) && len(*list) >= manySpans {
		*list = list.union()
	}
	if row == Sends || row == Receives {
		by := &m.times.Sent
		if row == Receives {
			by = &m.times.Received
		}
		if *by == nil {
			*by = map[int]uint64{}
		}
		if rank, err := strconv.Atoi(name); err == nil {
			(*by)[rank] += uint64(bytes)
		}
	}
	if row != Steps || name != Commit {
		return
	}
	t := m.times
	t.Ended = ended
	for part, in := range m.lists.parts() {
		t.Parts[part] = time.Duration(in.Sum()) * time.Microsecond
	}
	t.Sent, t.Received = maps.Clone(t.Sent), maps.Clone(t.Received)
	m.times.Began = ended
	clear(m.times.Sent)
	clear(m.times.Received)
	m.lists.reset()
	m.Step(t)
}
