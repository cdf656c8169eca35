// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// call is a collective with a number.
func call(n int) Event {
	return Event{Kind: Collective, Number: uint64(n), Peer: -1, Verb: "all-reduce", Name: "gradient"}
}

// numbers returns the numbers of events.
func numbers(all []Event) (n []uint64) {
	for _, e := range all {
		n = append(n, e.Number)
	}
	return n
}

// A ring returns the events of the last ten seconds, those that have not ended, and the newest epoch and failure.
func TestLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New()
		r.Add(Event{Kind: Epoch, Number: 100}, time.Now())
		r.Add(Event{Kind: Epoch, Number: 101}, time.Now())
		open := r.Begin(call(1), time.Now())
		time.Sleep(time.Minute)
		r.End(r.Begin(call(2), time.Now()))
		time.Sleep(Age)
		m := r.Begin(call(3), time.Now())
		time.Sleep(time.Second)
		r.End(m)
		got := r.Last(time.Now(), 10)
		if d := cmp.Diff([]uint64{101, 1, 3}, numbers(got)); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
		if e := got[2]; e.Ago != time.Second || e.Took != time.Second || e.Open {
			t.Errorf("got %+v, want 1 s ago, 1 s long, ended", e)
		}
		if e := got[1]; !e.Open || e.Ago != time.Minute+Age+time.Second {
			t.Errorf("got %+v, want an open event", e)
		}
		r.End(open)
		time.Sleep(time.Hour)
		if d := cmp.Diff([]uint64{101, 3}, numbers(r.Last(time.Now(), 10))); d != "" {
			t.Errorf("after an hour, -want +got:\n%s", d)
		}
	})
}

// A ring holds the newest events, and a mark of an older one ends nothing.
func TestCapacity(t *testing.T) {
	r, now := New(), time.Now()
	first := r.Begin(call(0), now)
	for n := 1; n <= Capacity; n++ {
		r.Begin(call(n), now)
	}
	r.End(first)
	all := r.Last(now, Capacity)
	if len(all) != Capacity || all[0].Number != 1 || !all[0].Open || all[Capacity-1].Number != Capacity {
		t.Errorf("got %d events from %d to %d", len(all), all[0].Number, all[len(all)-1].Number)
	}
	if got := numbers(r.Last(now, 2)); !cmp.Equal(got, []uint64{Capacity - 1, Capacity}) {
		t.Errorf("got %v, want the newest two", got)
	}
}

// An event costs no allocation. A nil ring records nothing.
func TestAnEventAllocatesNothing(t *testing.T) {
	for _, r := range []*Ring{New(), nil} {
		now := time.Now()
		if n := testing.AllocsPerRun(100, func() {
			r.End(r.Begin(call(1), now))
			r.Add(call(2), now)
		}); n != 0 {
			t.Errorf("got %g allocations, want 0", n)
		}
	}
	if all := (*Ring)(nil).Last(time.Now(), 10); all != nil {
		t.Errorf("got %v", all)
	}
}

type badData struct{ error }

func (badData) FaultClass() Class { return BadData }

func TestClassOf(t *testing.T) {
	for want, err := range map[Class]error{
		DiskFull: fmt.Errorf("model: %w", syscall.ENOSPC), ReadOnly: syscall.EROFS, NoFile: syscall.ENOENT, Denied: syscall.EACCES,
		DiskFailed: syscall.EIO, Memory: syscall.ENOMEM, Descriptors: syscall.EMFILE, Stopped: context.Canceled,
		BadData: fmt.Errorf("part.3: %w", badData{syscall.ENOSPC}), Other: errors.New("the weights diverge"),
	} {
		if got := ClassOf(err); got != want {
			t.Errorf("%v: got class %d, want %d", err, got, want)
		}
	}
}

func TestKindsHaveNames(t *testing.T) {
	for k := Epoch; k <= Failure; k++ {
		if k.String() == "" || k.String() == "unknown" {
			t.Errorf("kind %d has no name", k)
		}
	}
	if got := (Failure + 1).String(); got != "unknown" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkCollective(b *testing.B) {
	r := New()
	began := time.Now()
	for b.Loop() {
		r.End(r.Begin(call(1), began))
	}
}
