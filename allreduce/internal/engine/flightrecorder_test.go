// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"log/slog"
	"os"
	"testing"
	"time"
)

// TestFlightsAreFew: however often a rank stalls, the directory does not fill up; groups
// of one process share the recorder.
func TestFlightsAreFew(t *testing.T) {
	dir := t.TempDir()
	var fs [2]*FlightRecorder
	for i := range fs {
		f, err := NewFlightRecorder(dir, i, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		fs[i] = f
	}
	for range maxDumps + 2 {
		fs[0].dump("for ever")
	}
	fs[0].Close()
	fs[0].Close()
	fs[0].dump("after the end")
	fs[1].dump("once")
	fs[1].Close()
	if files, err := os.ReadDir(dir); err != nil || len(files) != maxDumps+1 {
		t.Errorf("got %d files, %v, want %d", len(files), err, maxDumps+1)
	}
	if recorder.fr != nil || recorder.users != 0 {
		t.Error("the recorder still runs")
	}
}

// A file system that hangs under TraceDir holds up neither the watch of the
// deadlines nor the end of the group.
func TestHungTraceDirDelaysNothing(t *testing.T) {
	f, err := NewFlightRecorder(t.TempDir(), 3, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	hung := make(chan struct{})
	defer close(hung)
	f.within = time.Millisecond
	f.write = func(string, []byte) error { <-hung; return nil }
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range maxDumps {
			f.dump("rank 3 waits")
		}
		f.Close()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("dump or close waits for the file system")
	}
}
