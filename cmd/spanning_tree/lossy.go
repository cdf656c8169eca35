// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// lossyWriter writes lines without blocking its caller: a full pipe, or a terminal
// stopped by Ctrl-S, must not stop the server. It drops lines that do not fit its
// queue, and writes their number when the underlying writer makes progress again.
type lossyWriter struct {
	lines  chan []byte
	lost   atomic.Int64
	stop   chan struct{} // closed by close
	done   chan struct{} // closed when the queue is written after that
	closer sync.Once
}

const (
	lineRoom  = 1024        // capacity of the queue, in lines
	lineGrace = time.Second // longest wait of close for the queue to drain
)

// newLossyWriter starts a goroutine that writes to w until close.
func newLossyWriter(w io.Writer) *lossyWriter {
	l := &lossyWriter{lines: make(chan []byte, lineRoom), stop: make(chan struct{}), done: make(chan struct{})}
	go l.run(w)
	return l
}

// run writes the queue to w until close, and then what is left of it.
func (l *lossyWriter) run(w io.Writer) {
	defer close(l.done)
	for {
		select {
		case line := <-l.lines:
			l.put(w, line)
			continue
		case <-l.stop:
		}
		for {
			select {
			case line := <-l.lines:
				l.put(w, line)
			default:
				return
			}
		}
	}
}

// put writes a line to w, after the number of those that were dropped before it.
func (l *lossyWriter) put(w io.Writer, line []byte) {
	if n := l.lost.Swap(0); n > 0 {
		fmt.Fprintf(w, "%d log lines were dropped: stderr or the log file did not accept them in time\n", n)
	}
	_, _ = w.Write(line) // there is no other place to report a failure of the log
}

// Write queues a copy of a line, or drops the line if the queue is full or close was called. It returns no error.
func (l *lossyWriter) Write(line []byte) (int, error) {
	select {
	case <-l.stop: // the journal's goroutine outlives a server whose disk hangs
		return len(line), nil
	default:
	}
	select {
	case l.lines <- append([]byte(nil), line...):
	default:
		l.lost.Add(1)
	}
	return len(line), nil
}

// close waits until the queue is written, for at most lineGrace.
func (l *lossyWriter) close() {
	l.closer.Do(func() { close(l.stop) })
	select {
	case <-l.done:
	case <-time.After(lineGrace):
	}
}
