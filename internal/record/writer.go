// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"
)

// The limits of a file, per process.
const (
	stepLines   = 512 // lines of steps, after which a line covers twice as many
	maxMessages = 1000
	maxBytes    = 64 << 20
	maxText     = 4096 // bytes of a message
)

// Writer writes the events of one process.
type Writer struct {
	mu       sync.Mutex
	out      io.WriteCloser
	rank     int
	now      func() time.Time
	err      error
	ended    bool
	bytes    int
	messages int
	dropped  int

	pending Step // steps that are not written yet; Last is 0 if there are none
	covers  int  // steps of a line
	lines   int  // of steps, since covers has changed

	vectors *Vectors // the newest ones; nil: they are written
	calls   int      // of Add with vectors, since the last line of them
	each    int      // calls for a line
	wrote   int      // lines of vectors, since each has changed
}

// NewWriter returns a writer of the events of a rank. Each event is one write to out. The launcher's rank is -1. now returns the time; nil: time.Now.
func NewWriter(out io.WriteCloser, rank int, now func() time.Time) *Writer {
	if now == nil {
		now = time.Now
	}
	return &Writer{out: out, rank: rank, now: now, covers: 1, each: 1}
}

// Seconds returns a time in the form of the file.
func Seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// Add writes an event. It sets the name of the event, the rank and, if it is 0, the time.
func (w *Writer) Add(e event) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := e.(type) {
	case *Step:
		w.step(e)
		return
	case *Vectors:
		w.vectors = e
		if w.calls++; w.calls >= w.each {
			w.flushVectors()
		}
		return
	case *Message:
		if w.messages++; w.messages > maxMessages {
			w.dropped++
			return
		}
		e.Text, e.Fields = e.Text[:min(len(e.Text), maxText)], e.Fields[:min(len(e.Fields), maxText)]
	case *End:
		w.flush()
		w.flushVectors()
		e.Dropped = w.dropped
		w.ended = true
	}
	w.add(e)
}

// step adds a step to the pending ones, and writes them if they are enough for a line.
func (w *Writer) step(s *Step) {
	p := &w.pending
	if p.Last == 0 {
		began := s.Began
		*p = Step{First: s.First, Began: began}
	}
	p.Last, p.Time = s.Last, s.Time
	if p.Time == 0 {
		p.Time = Seconds(w.now())
	}
	p.Seconds.Add(&s.Seconds)
	p.Sent, p.Received = sum(p.Sent, s.Sent), sum(p.Received, s.Received)
	if p.Via == nil {
		p.Via = maps.Clone(s.Via)
	} else {
		maps.Copy(p.Via, s.Via)
	}
	if p.Last-p.First+1 >= w.covers {
		w.flush()
	}
}

// sum adds the bytes of b to those of a.
func sum(a, b map[int]uint64) map[int]uint64 {
	if a == nil {
		return maps.Clone(b)
	}
	for k, v := range b {
		a[k] += v
	}
	return a
}

// flush writes the pending steps.
func (w *Writer) flush() {
	if w.pending.Last == 0 {
		return
	}
	s := w.pending
	w.pending = Step{}
	if w.lines++; w.lines == stepLines {
		w.covers, w.lines = 2*w.covers, 0
	}
	w.add(&s)
}

// flushVectors writes the newest vectors. They are sums, so those before may be left out.
func (w *Writer) flushVectors() {
	if w.vectors == nil {
		return
	}
	e := w.vectors
	w.vectors, w.calls = nil, 0
	if w.wrote++; w.wrote == stepLines {
		w.each, w.wrote = 2*w.each, 0
	}
	w.add(e)
}

// add writes a line.
func (w *Writer) add(e event) {
	h := e.head()
	h.Event, h.Rank = kindOf(e), w.rank
	if h.Time == 0 {
		h.Time = Seconds(w.now())
	}
	if w.err != nil {
		return
	}
	line, err := json.Marshal(e)
	if err != nil {
		w.err = fmt.Errorf("cannot write event %s of the record: %w", h.Event, err)
		return
	}
	line = append(line, '\n')
	if _, end := e.(*End); !end && w.bytes+len(line) > maxBytes {
		w.dropped++
		return
	}
	w.bytes += len(line)
	if _, err := w.out.Write(line); err != nil {
		w.err = fmt.Errorf("cannot write the record: %w", err)
	}
}

// Close writes the pending steps, and an End with the error of the run if there is none. It closes the file.
func (w *Writer) Close(run error) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	ended := w.ended
	w.mu.Unlock()
	if !ended {
		e := &End{}
		if run != nil {
			e.Error = run.Error()
			e.Error = e.Error[:min(len(e.Error), maxText)]
		}
		w.Add(e)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.out.Close(); err != nil && w.err == nil {
		w.err = err
	}
	return w.err
}
