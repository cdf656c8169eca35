// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/trace"
	"sync"
	"time"
)

const (
	// maxDumps limits the traces of one rank. The first ones are the most useful: later stalls
	// mostly follow from the first.
	maxDumps = 3
	// recordAge is how far back a trace reaches, at least: beyond the first line that the
	// log has of a wait. recordBytes bounds its memory.
	recordAge   = LogInterval + 5*time.Second
	recordBytes = 16 << 20
)

// FlightRecorder keeps the last seconds of what this process does, and writes them to a file when
// a rank stalls: the goroutines that ran, and what each of the others waited for.
type FlightRecorder struct {
	dir  string
	rank int
	log  *slog.Logger

	write  func(name string, b []byte) error // writes a trace to its file
	within time.Duration                     // limit on Close's wait for write

	mu      sync.Mutex
	dumps   int
	closed  bool
	writing sync.WaitGroup
}

// traceWithin is how long the end of a group waits for a trace that is being written.
const traceWithin = 5 * time.Second

// recorder is the recorder of the process. The runtime permits one, so all groups share it.
var recorder struct {
	mu    sync.Mutex
	users int
	fr    *trace.FlightRecorder
}

// NewFlightRecorder starts to record, for dumps to dir.
func NewFlightRecorder(dir string, rank int, log *slog.Logger) (*FlightRecorder, error) {
	switch at, err := os.Stat(dir); {
	case err != nil:
		return nil, fmt.Errorf("TraceDir: %w", err)
	case !at.IsDir():
		return nil, fmt.Errorf("TraceDir: %s is no directory", dir)
	}
	recorder.mu.Lock()
	defer recorder.mu.Unlock()
	if recorder.users == 0 {
		fr := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: recordAge, MaxBytes: recordBytes})
		if err := fr.Start(); err != nil {
			return nil, fmt.Errorf("TraceDir: cannot record: %w", err)
		}
		recorder.fr = fr
	}
	recorder.users++
	return &FlightRecorder{dir: dir, rank: rank, log: log, write: writeTrace, within: traceWithin}, nil
}

// Close waits for traces that are being written, for a while, and ends the recording
// when the last group of the process does so. A nil FlightRecorder records nothing.
func (f *FlightRecorder) Close() {
	if f == nil {
		return
	}
	f.mu.Lock()
	first := !f.closed
	f.closed = true
	f.mu.Unlock()
	written := make(chan struct{})
	go func() { // ends with the last write, also after Close has given up
		defer close(written)
		f.writing.Wait()
	}()
	select {
	case <-written:
	case <-time.After(f.within):
		f.log.Warn("gave up waiting for the trace of a stall to be written", "rank", f.rank, "folder", f.dir, "after", f.within)
	}
	recorder.mu.Lock()
	defer recorder.mu.Unlock()
	if !first {
		return
	}
	if recorder.users--; recorder.users == 0 {
		recorder.fr.Stop()
		recorder.fr = nil
	}
}

// dump takes a trace and writes it beside the caller, which watches the deadlines: the
// folder's file system may hang. The log has the file's name. why is what this rank
// waits for.
func (f *FlightRecorder) dump(why string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.dumps == maxDumps {
		return
	}
	f.dumps++
	name := filepath.Join(f.dir, fmt.Sprintf("gvw-rank%d-%s-%d.trace", f.rank, time.Now().UTC().Format("20060102T150405.000Z"), f.dumps))
	b, err := takeTrace()
	f.writing.Go(func() {
		if err == nil {
			err = f.write(name, b)
		}
		if err != nil {
			f.log.Warn("cannot write a trace of the stall", "rank", f.rank, "stall", why, "error", err)
			return
		}
		f.log.Warn("wrote a trace of the stall: see it by go tool trace", "rank", f.rank, "stall", why, "file", name)
	})
}

// takeTrace returns what the recorder has kept.
func takeTrace() ([]byte, error) {
	recorder.mu.Lock()
	defer recorder.mu.Unlock()
	var b bytes.Buffer
	_, err := recorder.fr.WriteTo(&b)
	return b.Bytes(), err
}

// writeTrace writes a trace to a temporary file and renames it, so that no reader sees half of it.
func writeTrace(name string, b []byte) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".gvw-trace-*")
	if err != nil {
		return err
	}
	_, err = file.Write(b)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // err says more
	}
	return err
}
