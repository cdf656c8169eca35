// SPDX-License-Identifier: Apache-2.0

//go:build rdma && linux

package verbs

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// guestLinked are n streams from a to b, and their other ends.
func guestLinked(t *testing.T, a, b *Domain, n int) (from, to []*Stream) {
	t.Helper()
	for range n {
		ends := [2]*Stream{}
		for i, d := range []*Domain{a, b} {
			s, err := d.NewStream()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			ends[i] = s
		}
		if err := errors.Join(ends[0].Accept(ends[1].Offer()), ends[1].Accept(ends[0].Offer())); err != nil {
			t.Fatal(err)
		}
		from, to = append(from, ends[0]), append(to, ends[1])
	}
	return from, to
}

// until waits for a call that says it is done.
func until(call func() (bool, error)) error {
	for begun := time.Now(); ; transport.Yield() {
		done, err := call()
		if done || err != nil {
			return err
		}
		if time.Since(begun) > time.Minute {
			return errors.New("it has taken a minute")
		}
	}
}

// TestGuestInbox: what is taken while it is written to, by packets, is whole and in order, and the
// last message is not lost.
func TestGuestInbox(t *testing.T) {
	inGuest(t)
	a, b := guestDomain(t, "10.77.0.1"), guestDomain(t, "10.77.0.2")
	from, _ := guestLinked(t, a, b, 1)
	const messages, size = 500, 10_000 // 3 packets
	in, err := b.NewInbox(4, size)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	written, to := make(chan error, 1), in.Target()
	go func() {
		payload := make([]byte, size)
		for n := uint64(1); n <= messages; n++ {
			for i := range payload {
				payload[i] = byte(n)
			}
			if err := until(func() (bool, error) { return from[0].Put(to, n, payload) }); err != nil {
				written <- err
				return
			}
		}
		written <- until(func() (bool, error) { return from[0].Flushed(), from[0].err })
	}()
	taken, last := 0, uint64(0)
	if err := until(func() (bool, error) {
		got, n, ok := in.Take(nil)
		if !ok {
			return false, nil
		}
		if n <= last || !bytes.Equal(got, bytes.Repeat([]byte{byte(n)}, size)) {
			t.Errorf("message %d after %d is not what was written", n, last)
		}
		taken, last = taken+1, n
		return n == messages, nil
	}); err != nil {
		t.Error(err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	t.Logf("%d of %d messages were taken, the others written over", taken, messages)
}

// TestGuestFetchAdd: two that add to a counter at once miss nothing, and no two learn the same;
// a wrong key is an error.
func TestGuestFetchAdd(t *testing.T) {
	inGuest(t)
	a, b := guestDomain(t, "10.77.0.1"), guestDomain(t, "10.77.0.2")
	from, _ := guestLinked(t, a, b, 2)
	in, err := b.NewInbox(1, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	const times, each = 200, 3
	var all [2][]uint64
	var errs [2]error
	var adders sync.WaitGroup
	for i, s := range from {
		adders.Go(func() {
			for range times {
				errs[i] = errors.Join(errs[i], until(func() (bool, error) { return s.FetchAdd(in.Target(), each) }), until(func() (bool, error) {
					was, ok, err := s.Fetched()
					if ok {
						all[i] = append(all[i], was)
					}
					return ok, err
				}))
				if errs[i] != nil {
					return
				}
			}
		})
	}
	adders.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	learnt := slices.Sorted(slices.Values(slices.Concat(all[0], all[1])))
	for i, was := range learnt {
		if was != uint64(i*each) {
			t.Fatalf("the counter was %d for number %d of those who added, want %d", was, i, i*each)
		}
	}
	if in.Counter() != 2*times*each {
		t.Errorf("the counter is %d, want %d", in.Counter(), 2*times*each)
	}
	bad := in.Target()
	bad.Key ^= 0xff00
	err = until(func() (bool, error) { return from[0].FetchAdd(bad, 1) })
	for err == nil {
		_, _, err = from[0].Fetched()
	}
	if e, ok := errors.AsType[*Error](err); !ok || e.Op != OpFetchAdd || e.Status != RemoteAccess {
		t.Errorf("got %v, want that access was refused", err)
	}
}
