// SPDX-License-Identifier: Apache-2.0

package mailbox

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/crc32c"
)

// words is memory of the process.
type words []uint64

func newWords(n int) words { return make(words, (n+7)/8) }

func (w words) Bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), 8*len(w))
}

func (w words) Flag(at int) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&w[at/8])) }

// pair returns both ends of a mailbox in new memory.
func pair(t testing.TB, l Layout) (*Writer, *Reader, words) {
	t.Helper()
	mem := newWords(l.At + l.Size())
	w, err := NewWriter(Local{mem}, l, 7)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(mem, l, 7)
	if err != nil {
		t.Fatal(err)
	}
	return w, r, mem
}

// publish writes an update whose time is its round.
func publish(t testing.TB, w *Writer, text string, round uint64) {
	t.Helper()
	if err := w.Begin(len(text)); err != nil {
		t.Fatal(err)
	}
	end(t, w, text, round)
}

// end completes an update that has begun.
func end(t testing.TB, w *Writer, text string, round uint64) {
	t.Helper()
	half := len(text) / 2
	w.Write([]byte(text[:half]))
	w.Write([]byte(text[half:]))
	if err := w.End(Head{Round: round, Sent: int64(round), Tags: [2]uint64{^round, 5}}, crc32c.Checksum([]byte(text))); err != nil {
		t.Fatal(err)
	}
}

// TestNewestOverwritesOldest compares a mailbox with a model: the last updates, at most as many as there are slots.
func TestNewestOverwritesOldest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := Layout{At: 64 * rapid.IntRange(0, 2).Draw(rt, "at"), Depth: rapid.IntRange(1, 5).Draw(rt, "depth"), Payload: rapid.IntRange(1, 200).Draw(rt, "payload")}
		w, r, _ := pair(t, l)
		type update struct {
			round uint64
			text  string
		}
		var unread []update
		var want Stats
		var buf []Update
		for round := range uint64(rapid.IntRange(1, 30).Draw(rt, "steps")) {
			if rapid.IntRange(0, 3).Draw(rt, "step") > 0 {
				text := strings.Repeat(string(rune('a'+round%26)), rapid.IntRange(0, l.Payload).Draw(rt, "size"))
				publish(t, w, text, round)
				unread = append(unread, update{round, text})
				continue
			}
			if n := len(unread) - l.Depth; n > 0 {
				unread = unread[n:]
				want.Overwritten += uint64(n)
			}
			buf = r.Updates(buf[:0])
			if len(buf) != len(unread) {
				rt.Fatalf("got %d updates, want %d", len(buf), len(unread))
			}
			for i, u := range buf {
				got, ok := r.Copy(nil, u)
				if !ok || !r.Intact(u) || u.Round != unread[i].round || u.Tags != [2]uint64{^u.Round, 5} || u.Sent != int64(u.Round) || string(got) != unread[i].text || !bytes.Equal(got, u.Payload) {
					rt.Fatalf("update %d: got round %d, %q, intact %v, want round %d, %q", i, u.Round, got, ok, unread[i].round, unread[i].text)
				}
			}
			want.Read += uint64(len(unread))
			unread = unread[:0]
		}
		if d := cmp.Diff(want, r.Stats()); d != "" {
			rt.Fatalf("counts (-want +got):\n%s", d)
		}
	})
}

func TestIncompleteUpdatesAreLeftOut(t *testing.T) {
	l := Layout{Depth: 2, Payload: 100}
	w, r, mem := pair(t, l)
	publish(t, w, "first", 1)
	begin := func(text string) {
		if err := w.Begin(7); err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(text))
	}
	begin("half")
	if got := r.Updates(nil); len(got) != 1 || string(got[0].Payload) != "first" {
		t.Fatalf("got %v, want the first update only", got)
	}
	w.Abandon()
	publish(t, w, "second", 2)
	got := r.Updates(nil)
	if len(got) != 1 || string(got[0].Payload) != "second" {
		t.Fatalf("got %v, want the second update", got)
	}
	// The sender overwrites what the reader is looking at.
	publish(t, w, "third", 3)
	begin("four")
	if _, ok := r.Copy(nil, got[0]); ok || r.Intact(got[0]) {
		t.Error("an update that was being overwritten was copied as intact")
	}
	w.Abandon()
	// A write whose trailer has not arrived.
	at := l.slot(4)
	publish(t, w, "fourth", 4)
	tail := mem.Flag(at + payloadAt + 8)
	tail.Store(2)
	if got := r.Updates(nil); len(got) != 1 || got[0].Round != 3 {
		t.Fatalf("got %v, want round 3 only", got)
	}
	tail.Store(4)
	got = r.Updates(nil)
	if len(got) != 1 || got[0].Round != 4 {
		t.Fatalf("got %v, want round 4", got)
	}
	// Bytes that change without a new header.
	mem.Bytes()[at+payloadAt]++
	if _, ok := r.Copy(nil, got[0]); ok {
		t.Error("an update with a changed byte was copied as intact")
	}
	publish(t, w, "fifth", 5)
	mem.Bytes()[l.slot(5)+roundAt]++
	for range 2 {
		if got := r.Updates(nil); len(got) != 0 {
			t.Errorf("got %v, whose round is damaged", got)
		}
	}
	if s := r.Stats(); s.Damaged != 2 || s.Torn < 2 || s.Overwritten != 0 {
		t.Errorf("got %+v, want 2 damaged, 2 or more torn, none overwritten", s)
	}
}

func TestOtherKeysDoNotCount(t *testing.T) {
	l := Layout{Depth: 2, Payload: 8}
	w, _, mem := pair(t, l)
	publish(t, w, "old", 1)
	r, err := NewReader(mem, l, 8)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Updates(nil); len(got) != 0 {
		t.Errorf("got %v of a sender of an earlier membership, want nothing", got)
	}
}

func TestLayoutReportsAllFaults(t *testing.T) {
	err := Layout{At: 3}.Validate()
	want := "mailbox: offset 3: want a multiple of 64\nmailbox: depth 0: want at least 1\nmailbox: updates of 0 bytes: want 1 to 4294967168"
	if d := cmp.Diff(want, fmt.Sprint(err)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := NewReader(newWords(64), Layout{Depth: 1, Payload: 1}, 0); err == nil {
		t.Error("a mailbox larger than its memory was made")
	}
	w, _, _ := pair(t, Layout{Depth: 1, Payload: 4})
	if err := w.Begin(5); err == nil {
		t.Error("an update longer than the layout allows was made")
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	w, r, _ := pair(t, Layout{Depth: 4, Payload: 1000})
	buf := make([]Update, 0, 4)
	private, update := make([]byte, 0, 1000), make([]byte, 1000)
	allocs := testing.AllocsPerRun(100, func() {
		for range 3 {
			if w.Begin(len(update)) != nil {
				t.Fatal("cannot begin an update")
			}
			w.Write(update)
			if w.End(Head{Round: 1}, crc32c.Checksum(update)) != nil {
				t.Fatal("cannot end an update")
			}
		}
		buf = r.Updates(buf[:0])
		for _, u := range buf {
			private, _ = r.Copy(private, u)
		}
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}

// FuzzReader reads from memory that anyone may have written.
func FuzzReader(f *testing.F) {
	l := Layout{Depth: 3, Payload: 40}
	w, _, mem := pair(f, l)
	for i := range uint64(4) {
		publish(f, w, "some text", i)
		f.Add(bytes.Clone(mem.Bytes()))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, r, mem := pair(t, l)
		copy(mem.Bytes(), b)
		for _, u := range r.Updates(nil) {
			if len(u.Payload) > l.Payload {
				t.Fatalf("got an update of %d bytes, want at most %d", len(u.Payload), l.Payload)
			}
			if p, ok := r.Copy(nil, u); ok {
				if crc32c.Checksum(p) != u.sum {
					t.Fatal("a copy with a wrong checksum counts as intact")
				}
			}
		}
	})
}
