// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
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
	// maxDumps is how many traces one rank writes: the first ones tell the most.
	maxDumps = 3
	// flightAge is how far back a trace reaches, at least: beyond the first line that the
	// log has of a wait. flightBytes bounds its memory.
	flightAge   = sayEvery + 5*time.Second
	flightBytes = 16 << 20
)

// flight keeps the last seconds of what this process does, and writes them to a file when
// a rank stalls: who held the processor, and what every goroutine waited for.
type flight struct {
	dir  string
	rank int
	log  *slog.Logger

	mu     sync.Mutex
	dumps  int
	closed bool
}

// recorder is the process's: the runtime has one, which the groups share.
var recorder struct {
	mu    sync.Mutex
	users int
	fr    *trace.FlightRecorder
}

// newFlight starts to record, for dumps to dir.
func newFlight(dir string, rank int, log *slog.Logger) (*flight, error) {
	switch at, err := os.Stat(dir); {
	case err != nil:
		return nil, fmt.Errorf("TraceDir: %w", err)
	case !at.IsDir():
		return nil, fmt.Errorf("TraceDir: %s is no directory", dir)
	}
	recorder.mu.Lock()
	defer recorder.mu.Unlock()
	if recorder.users == 0 {
		fr := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: flightAge, MaxBytes: flightBytes})
		if err := fr.Start(); err != nil {
			return nil, fmt.Errorf("TraceDir: cannot record: %w", err)
		}
		recorder.fr = fr
	}
	recorder.users++
	return &flight{dir: dir, rank: rank, log: log}, nil
}

// close ends the recording, when the last group does so. A nil flight records nothing.
func (f *flight) close() {
	if f == nil {
		return
	}
	f.mu.Lock()
	first := !f.closed
	f.closed = true
	f.mu.Unlock()
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

// dump writes a trace, and says in the log where it is. why is what this rank waits for.
func (f *flight) dump(why string) {
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
	if err := f.write(name); err != nil {
		f.log.Warn("cannot write a trace of the stall", "rank", f.rank, "stall", why, "error", err)
		return
	}
	f.log.Warn("wrote a trace of the stall: see it by go tool trace", "rank", f.rank, "stall", why, "file", name)
}

// write writes the trace aside, then gives it its name.
func (f *flight) write(name string) error {
	recorder.mu.Lock()
	defer recorder.mu.Unlock()
	file, err := os.CreateTemp(f.dir, ".gvw-trace-*")
	if err != nil {
		return err
	}
	_, err = recorder.fr.WriteTo(file)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // err says more
	}
	return err
}
