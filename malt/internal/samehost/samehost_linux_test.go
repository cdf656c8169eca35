// SPDX-License-Identifier: Apache-2.0

package samehost

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/shm"
	"github.com/gvw-project/gvw/malt/internal/carrier"
	"github.com/gvw-project/gvw/malt/internal/mailbox"
)

// meet returns the ends of two ranks that share a machine.
func meet(t *testing.T) (a, b *Memory) {
	t.Helper()
	a, b = New(System), New(System)
	hello, err := a.Hello()
	if err == nil {
		var theirs []byte
		theirs, err = b.Hello()
		err = errors.Join(err, a.Meet(theirs, nil), b.Meet(hello, nil))
	}
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

// open makes a mailbox and opens it.
func open(t *testing.T, a, b *Memory, l mailbox.Layout) (carrier.Inbox, carrier.Outbox) {
	t.Helper()
	in, offer, err := a.Make(l.Size())
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.Open(l.Size(), l.Stride(), 1, offer)
	if err != nil {
		t.Fatal(err)
	}
	in.Opened()
	if len(offer) > carrier.MaxOffer {
		t.Errorf("an offer has %d bytes, at most %d are allowed", len(offer), carrier.MaxOffer)
	}
	return in, out
}

// TestUpdatesAreWritten writes small updates and then large ones, for which the writer allocates memory.
func TestUpdatesAreWritten(t *testing.T) {
	a, b := meet(t)
	l := mailbox.Layout{Depth: 2, Payload: 1 << 20}
	in, out := open(t, a, b, l)
	defer in.Close()
	defer out.Close()
	w, err := mailbox.NewWriter(out, l, 5)
	if err != nil {
		t.Fatal(err)
	}
	r, err := mailbox.NewReader(in, l, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 100, 5000, 4096, 1 << 20, 3} {
		update := bytes.Repeat([]byte{byte(n), 7}, n)[:n]
		if err := w.Begin(n); err != nil {
			t.Fatal(err)
		}
		w.Write(update)
		if err := w.End(mailbox.Head{Round: uint64(n)}, crc32c.Checksum(update)); err != nil {
			t.Fatal(err)
		}
		got := r.Updates(nil)
		if len(got) != 1 || !r.Intact(got[0]) || !bytes.Equal(got[0].Payload, update) {
			t.Fatalf("got %d updates, want the one of %d bytes", len(got), n)
		}
	}
	if !out.Room() || !out.Arrived() {
		t.Error("a write to shared memory is pending")
	}
}

// TestLateWritesHaveNoEffect writes with the window of an epoch that has ended.
func TestLateWritesHaveNoEffect(t *testing.T) {
	a, b := meet(t)
	l := mailbox.Layout{Depth: 1, Payload: 64}
	old, zombie := open(t, a, b, l)
	defer zombie.Close()
	a.Stop()
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	in, out := open(t, a, b, l) // of the next epoch
	defer in.Close()
	defer out.Close()
	w, err := mailbox.NewWriter(zombie, l, 5)
	if err != nil {
		t.Fatal(err)
	}
	r, err := mailbox.NewReader(in, l, 5) // even with the same key
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Begin(3); err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("old"))
	if err := w.End(mailbox.Head{}, crc32c.Checksum([]byte("old"))); err != nil {
		t.Fatal(err)
	}
	if got := r.Updates(nil); len(got) != 0 {
		t.Errorf("got %v, which was written to the memory of an earlier epoch", got)
	}
}

func TestOtherMachinesAreRefused(t *testing.T) {
	a, b := New(System), New(Host{Machine: func() (string, error) { return "another", nil }})
	if _, err := a.Hello(); err != nil {
		t.Fatal(err)
	}
	theirs, err := b.Hello()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Meet(theirs, nil); err == nil || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("got %v for a rank of another machine", err)
	}
	none := New(Host{Machine: func() (string, error) { return "", shm.ErrNoSegment }})
	if _, err := none.Hello(); !errors.Is(err, shm.ErrNoSegment) {
		t.Errorf("got %v, want %v", err, shm.ErrNoSegment)
	}
}

func TestInvalidOffersAreRefused(t *testing.T) {
	a, b := meet(t)
	in, offer, err := a.Make(1000)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for what, open := range map[string]func() (carrier.Outbox, error){
		"short":     func() (carrier.Outbox, error) { return b.Open(1000, 1000, 1, offer[:39]) },
		"too small": func() (carrier.Outbox, error) { return b.Open(1001, 1001, 1, offer) },
		"elsewhere": func() (carrier.Outbox, error) {
			other := bytes.Clone(offer)
			other[30]++ // of the nonce
			return b.Open(1000, 1000, 1, other)
		},
	} {
		if out, err := open(); err == nil {
			out.Close()
			t.Errorf("an offer that is %s was accepted", what)
		}
	}
}
