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
	Step  func(StepTimes) // called after each step, by the goroutine that has made it; nil: steps are not added up
	// Span is called with each span, perhaps by several goroutines; nil: it is not.
	Span func(row Row, name string, began, ended time.Time, bytes int)

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
	Via            map[int]string // carrier of the newest of these bytes, by that rank
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

// Shared adds what a collective in shared memory has done, for the meter only: the bytes exchanged with each other rank, and the
// time in which the rank did not wait for others, which ends now.
func (r *Recorder) Shared(ranks []int, sent, received []uint64, busy time.Duration, ended time.Time) {
	if !r.Metered() {
		return
	}
	m := r.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := (Interval{ended.Add(-busy).UnixMicro(), ended.UnixMicro()}); s.Lo < s.Hi {
		m.lists.add(Receives, "", s)
	}
	for i, rank := range ranks {
		count(&m.times.Sent, rank, sent[i])
		count(&m.times.Received, rank, received[i])
	}
}

// Via notes the carrier of bytes to and from a rank, for the meter only.
func (r *Recorder) Via(rank int, carrier string) {
	if !r.Metered() {
		return
	}
	r.meter.mu.Lock()
	defer r.meter.mu.Unlock()
	if r.meter.times.Via[rank] == carrier {
		return
	}
	if r.meter.times.Via == nil {
		r.meter.times.Via = map[int]string{}
	}
	r.meter.times.Via[rank] = carrier
}

// Metered reports whether a meter gets the spans.
func (r *Recorder) Metered() bool { return r != nil && r.meter != nil }

// count adds bytes to those of a rank.
func count(by *map[int]uint64, rank int, bytes uint64) {
	if bytes == 0 {
		return
	}
	if *by == nil {
		*by = map[int]uint64{}
	}
	(*by)[rank] += bytes
}

// span adds a span. At the end of a step it calls Step.
func (m *Meter) span(row Row, name string, began, ended time.Time, bytes int) {
	if m.Span != nil {
		m.Span(row, name, began, ended, bytes)
	}
	if m.Step == nil {
		return
	}
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
		if rank, err := strconv.Atoi(name); err == nil {
			count(by, rank, uint64(bytes))
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
	t.Sent, t.Received, t.Via = maps.Clone(t.Sent), maps.Clone(t.Received), maps.Clone(t.Via)
	m.times.Began = ended
	clear(m.times.Sent)
	clear(m.times.Received)
	clear(m.times.Via)
	m.lists.reset()
	m.Step(t)
}
