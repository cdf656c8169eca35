// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unsafe"
)

func TestSegmentIsShared(t *testing.T) {
	const n = 10_000
	a, err := NewSegment(n, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if len(a.Bytes()) != n || !bytes.Equal(a.Bytes(), make([]byte, n)) {
		t.Fatalf("got %d bytes, want %d zeros", len(a.Bytes()), n)
	}
	b, err := OpenSegment(a.Location())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	copy(a.Bytes()[n-5:], "hello")
	if got := string(b.Bytes()[n-5:]); got != "hello" {
		t.Errorf("got %q, want hello", got)
	}
	a.Flag(64).Store(1 << 40)
	if got := b.Flag(64).Load(); got != 1<<40 {
		t.Errorf("got %d, want 2^40", got)
	}
}

// OpenSegment rejects a file that is not the segment of its location.
func TestOpenSegmentVerifies(t *testing.T) {
	s, err := NewSegment(100, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(s.Location().Bytes); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(w *Location)
		want   string
	}{
		{func(w *Location) { w.Nonce[3]++ }, "is the segment of another job"},
		{func(w *Location) { w.Bytes += 4096 }, "is not the segment of this job"},
		{func(w *Location) { w.Arena += 4096 }, "is not the segment of this job"},
		{func(w *Location) { w.Arena = -1 }, "4196 bytes, arena of -1"},
		{func(w *Location) { w.FD = int32(file.Fd()) }, "is not the segment of this job"},
		{func(w *Location) { w.Bytes = 3 }, "a segment: 3 bytes"},
		{func(w *Location) { w.FD = 1 << 20 }, "no such file"},
	} {
		w := s.Location()
		c.change(&w)
		got, err := OpenSegment(w)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if err == nil {
			got.Close()
		}
	}
	w := s.Location()
	s.Unlink()
	if got, err := OpenSegment(w); err == nil {
		got.Close()
		t.Error("an unlinked segment was opened")
	}
}

// A Park ends by Wake, after ParkMax, and at once if the word has changed.
func TestParkEnds(t *testing.T) {
	s, err := NewSegment(100, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// A busy machine only makes a call longer, so the shortest of some calls is judged.
	shortest := ParkMax
	for range 20 {
		begun := time.Now()
		Park(s.Word(0), 1, false) // it is 0
		shortest = min(shortest, time.Since(begun))
	}
	if shortest > ParkMax/2 {
		t.Errorf("the word had another value, but Park took %v", shortest)
	}
	begun := time.Now()
	Park(s.Word(0), 0, false)
	if took := time.Since(begun); took < ParkMax/2 {
		t.Logf("a signal ended it after %v", took)
	}
	woken := make(chan struct{})
	go func() {
		defer close(woken)
		for s.Word(0).Load() == 0 {
			Park(s.Word(0), 0, false)
		}
	}()
	s.Word(0).Add(1)
	Wake(s.Word(0))
	<-woken
}

// Other processes see the memory that one process commits. After Close its addresses are
// inaccessible.
func TestArena(t *testing.T) {
	const arena, lo, hi = 1 << 30, 1 << 20, 1<<20 + 5<<12
	a, err := NewSegment(100, arena)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := OpenSegment(a.Location())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if len(a.Arena()) != arena || len(b.Arena()) != arena {
		t.Fatalf("got %d and %d bytes, want %d", len(a.Arena()), len(b.Arena()), arena)
	}
	if err := errors.Join(a.Commit(lo, lo+4096), a.Commit(lo+4096, hi)); err != nil {
		t.Fatal(err)
	}
	own := a.Arena()[lo:hi]
	copy(own[4090:], "hello")
	if got := string(b.Arena()[lo+4090:][:5]); got != "hello" {
		t.Errorf("got %q, want hello", got)
	}
	if err := a.Commit(lo, 1<<50); err == nil {
		t.Error("committing a million gigabytes succeeded")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	at := uintptr(unsafe.Pointer(&own[0]))
	if want := fmt.Sprintf("%x-%x ---p ", at, at+hi-lo); !strings.Contains(string(maps), want) {
		t.Errorf("want %q in the maps of this process:\n%s", want, maps)
	}
	if got := string(b.Arena()[lo+4090:][:5]); got != "hello" {
		t.Errorf("got %q after the other has closed, want hello", got)
	}
}

// If its first Commit fails, a process has no part of the arena, and Close unmaps the arena once. The
// addresses of a second time may be those of other memory.
func TestNoPartAfterAFailedCommit(t *testing.T) {
	s, err := NewSegment(100, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Commit(1<<20, 1<<50); err == nil {
		t.Fatal("committing a million gigabytes succeeded")
	}
	if lo, hi := s.committed[0], s.committed[1]; lo != 0 || hi != 0 {
		t.Errorf("the bytes %d … %d of the arena belong to this process, want none", lo, hi-1)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// After Detach a process's part of the arena keeps its contents until Close, whatever other
// processes write.
func TestDetach(t *testing.T) {
	const lo, hi = 1 << 20, 1<<20 + 5<<12
	a, err := NewSegment(100, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenSegment(a.Location())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := a.Commit(lo, hi); err != nil {
		t.Fatal(err)
	}
	own := a.Arena()[lo:hi]
	copy(own[4090:], "hello")
	if err := a.Detach(); err != nil {
		t.Fatal(err)
	}
	copy(b.Arena()[lo+4090:], "jello")
	if got := string(own[4090:][:5]); got != "hello" {
		t.Errorf("got %q, want hello", got)
	}
	copy(own, "mine")
	if got := b.Arena()[lo]; got != 0 {
		t.Errorf("the other sees %d", got)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	at := uintptr(unsafe.Pointer(&own[0]))
	if want := fmt.Sprintf("%x-%x ---p ", at, at+hi-lo); !strings.Contains(string(maps), want) {
		t.Errorf("want %q in the maps of this process:\n%s", want, maps)
	}
	if c, err := NewSegment(100, 1<<30); err != nil || c.Detach() != nil || c.Arena() != nil {
		t.Errorf("a segment without committed memory: %v", err)
	}
}
