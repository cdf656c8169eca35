// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

func TestSegmentIsShared(t *testing.T) {
	const n = 10_000
	a, err := NewSegment(n)
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
	s, err := NewSegment(100)
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
	s, err := NewSegment(100)
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
