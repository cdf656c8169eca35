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
	done   chan struct{}
	closer sync.Once
}

const (
	lineRoom  = 1024        // capacity of the queue, in lines
	lineGrace = time.Second // longest wait of close for the queue to drain
)

// newLossyWriter starts a goroutine that writes to w. The caller must call close after
// the last Write.
func newLossyWriter(w io.Writer) *lossyWriter {
	l := &lossyWriter{lines: make(chan []byte, lineRoom), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for line := range l.lines {
			if n := l.lost.Swap(0); n > 0 {
				fmt.Fprintf(w, "%d log lines were dropped: stderr or the log file did not accept them in time\n", n)
			}
			_, _ = w.Write(line) // there is no other place to report a failure of the log
		}
	}()
	return l
}

// Write queues a copy of a line, or drops the line if the queue is full. It returns no error.
func (l *lossyWriter) Write(line []byte) (int, error) {
	select {
	case l.lines <- append([]byte(nil), line...):
	default:
		l.lost.Add(1)
	}
	return len(line), nil
}

// close waits until the queue is written, for at most lineGrace.
func (l *lossyWriter) close() {
	l.closer.Do(func() { close(l.lines) })
	select {
	case <-l.done:
	case <-time.After(lineGrace):
	}
}
