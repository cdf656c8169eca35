// SPDX-License-Identifier: Apache-2.0

package verbs_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gvw-project/gvw/allreduce/verbs"
)

// TestInbox: messages come whole, in order, and a writer that is ahead writes over those
// that nobody has taken.
func TestInbox(t *testing.T) {
	p := newPair(t, 7)
	defer p.close(t)
	in, err := p.domains[1].NewInbox(4, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	s, to := p.ends[0], in.Target()
	payload := func(n uint64) []byte { return bytes.Repeat([]byte{byte(n)}, int(n*13%100)) }
	put := func(n uint64) {
		t.Helper()
		for ok := false; !ok; {
			var err error
			if ok, err = s.Put(to, n, payload(n)); err != nil {
				t.Fatal(err)
			}
		}
		for !s.Flushed() {
		}
	}
	take := func(want uint64) {
		t.Helper()
		got, n, ok := in.Take([]byte("before"))
		if ok != (want > 0) || n != want || ok && string(got) != "before"+string(payload(n)) || !ok && string(got) != "before" {
			t.Fatalf("got message %d (%v), want %d: %q", n, ok, want, got)
		}
	}
	take(0)
	for n := uint64(1); n <= 40; n++ { // more than the send queue holds
		put(n)
		take(n)
		take(0)
	}
	for n := uint64(41); n <= 46; n++ {
		put(n)
	}
	take(45) // written over 41
	take(46)
	take(0)
	if _, err := s.Put(to, 47, make([]byte, 200)); err == nil {
		t.Error("a payload that is too long: no error")
	}
	if _, err := p.domains[1].NewInbox(0, 10); err == nil {
		t.Error("an inbox without places: no error")
	}
}

// TestFetchAdd: every adder learns what the counter was.
func TestFetchAdd(t *testing.T) {
	p := newPair(t, 8)
	defer p.close(t)
	in, err := p.domains[1].NewInbox(1, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	s, want := p.ends[0], uint64(0)
	for n := uint64(1); n <= 100; n++ {
		for ok := false; !ok; {
			if ok, err = s.FetchAdd(in.Target(), n); err != nil {
				t.Fatal(err)
			}
		}
		for {
			was, ok, err := s.Fetched()
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				if was != want {
					t.Fatalf("got %d, want %d", was, want)
				}
				break
			}
		}
		want += n
	}
	if in.Counter() != want {
		t.Errorf("the counter is %d, want %d", in.Counter(), want)
	}
	bad := in.Target()
	bad.Key++
	if _, err = s.FetchAdd(bad, 1); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, _, err = s.Fetched()
	}
	if got := fmt.Sprint(err); got != (&verbs.Error{Place: verbs.Place{Device: "fake0", Port: 1}, Op: verbs.OpFetchAdd, Status: verbs.RemoteAccess}).Error() {
		t.Errorf("got %s", got)
	}
}
