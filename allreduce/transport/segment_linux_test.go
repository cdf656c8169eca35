// SPDX-License-Identifier: Apache-2.0

package transport

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
	b, err := OpenSegment(a.Where())
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

// TestSegmentIsKnown: what is at the place may be another's.
func TestSegmentIsKnown(t *testing.T) {
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
	if err := file.Truncate(s.Where().Bytes); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(w *Where)
		want   string
	}{
		{func(w *Where) { w.Nonce[3]++ }, "is the segment of another job"},
		{func(w *Where) { w.Bytes += 4096 }, "is not the segment of this job"},
		{func(w *Where) { w.Arena += 4096 }, "is not the segment of this job"},
		{func(w *Where) { w.Arena = -1 }, "a segment of 4196 bytes, and -1"},
		{func(w *Where) { w.FD = int32(file.Fd()) }, "is not the segment of this job"},
		{func(w *Where) { w.Bytes = 3 }, "a segment of 3 bytes"},
		{func(w *Where) { w.FD = 1 << 20 }, "no such file"},
	} {
		w := s.Where()
		c.change(&w)
		got, err := OpenSegment(w)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if err == nil {
			got.Close()
		}
	}
	w := s.Where()
	s.Hide()
	if got, err := OpenSegment(w); err == nil {
		got.Close()
		t.Error("a hidden segment was opened")
	}
}

// TestDozeEnds: by Wake, by itself, and at once where the word has changed.
func TestDozeEnds(t *testing.T) {
	s, err := NewSegment(100, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	begun := time.Now()
	Doze(s.Word(0), 1) // it is 0
	if took := time.Since(begun); took > DozeMax/2 {
		t.Errorf("the word has another value, and it took %v", took)
	}
	begun = time.Now()
	Doze(s.Word(0), 0)
	if took := time.Since(begun); took < DozeMax/2 {
		t.Logf("a signal ended it after %v", took)
	}
	woken := make(chan struct{})
	go func() {
		defer close(woken)
		for s.Word(0).Load() == 0 {
			Doze(s.Word(0), 0)
		}
	}()
	s.Word(0).Add(1)
	Wake(s.Word(0))
	<-woken
}

// TestArena: what one process puts memory behind, others see; after Close the addresses
// that were in use are nobody's.
func TestArena(t *testing.T) {
	const arena, lo, hi = 1 << 30, 1 << 20, 1<<20 + 5<<12
	a, err := NewSegment(100, arena)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := OpenSegment(a.Where())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if len(a.Arena()) != arena || len(b.Arena()) != arena {
		t.Fatalf("got %d and %d bytes, want %d", len(a.Arena()), len(b.Arena()), arena)
	}
	if err := errors.Join(a.Back(lo, lo+4096), a.Back(lo+4096, hi)); err != nil {
		t.Fatal(err)
	}
	own := a.Arena()[lo:hi]
	copy(own[4090:], "hello")
	if got := string(b.Arena()[lo+4090:][:5]); got != "hello" {
		t.Errorf("got %q, want hello", got)
	}
	if err := a.Back(lo, 1<<50); err == nil {
		t.Error("there is memory for a million gigabytes")
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

// TestLeave: what a process had in the arena stays as it was, whatever others do there, until
// Close.
func TestLeave(t *testing.T) {
	const lo, hi = 1 << 20, 1<<20 + 5<<12
	a, err := NewSegment(100, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenSegment(a.Where())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := a.Back(lo, hi); err != nil {
		t.Fatal(err)
	}
	own := a.Arena()[lo:hi]
	copy(own[4090:], "hello")
	if err := a.Leave(); err != nil {
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
	if c, err := NewSegment(100, 1<<30); err != nil || c.Leave() != nil || c.Arena() != nil {
		t.Errorf("a segment of which nothing was used: %v", err)
	}
}
