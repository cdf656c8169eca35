// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// lossyWriter writes lines without ever waiting for who reads them: a pipe
// that nobody empties, or a terminal that was stopped by Ctrl-S, must not stop
// a server. What it cannot keep it counts, and says so when it can write again.
type lossyWriter struct {
	lines  chan []byte
	lost   atomic.Int64
	done   chan struct{}
	closer sync.Once
}

// lineRoom is how many lines wait for a reader, and lineGrace how long close
// waits for it.
const (
	lineRoom  = 1024
	lineGrace = time.Second
)

// newLossyWriter starts a writer. The caller must close it, after the last Write.
func newLossyWriter(w io.Writer) *lossyWriter {
	l := &lossyWriter{lines: make(chan []byte, lineRoom), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for line := range l.lines {
			if n := l.lost.Swap(0); n > 0 {
				fmt.Fprintf(w, "%d lines of the log were lost: nobody read them\n", n)
			}
			_, _ = w.Write(line) // a log that cannot be written has nowhere to say so
		}
	}()
	return l
}

// Write keeps a copy of a line. It never fails.
func (l *lossyWriter) Write(line []byte) (int, error) {
	select {
	case l.lines <- append([]byte(nil), line...):
	default:
		l.lost.Add(1)
	}
	return len(line), nil
}

// close waits for what was written, but not for ever.
func (l *lossyWriter) close() {
	l.closer.Do(func() { close(l.lines) })
	select {
	case <-l.done:
	case <-time.After(lineGrace):
	}
}
