// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/link"
)

// idle is a driver and a handle that move nothing.
type idle struct{}

func (idle) Attach(*link.Link) (link.Handle, error)               { return idle{}, nil }
func (idle) Carry(context.Context, <-chan struct{}, []*link.Link) {}
func (idle) FlushErrors()                                         {}
func (idle) Stop()                                                {}
func (idle) Wait()                                                {}
func (idle) Cut()                                                 {}
func (idle) Attend()                                              {}
func (idle) Upgrades() bool                                       { return false }
func (idle) Wake()                                                {}
func (idle) Ring() link.Carrier                                   { return nil }

// events is an owner that records what a link brings. It takes, delays and drops data by its length.
type events struct {
	log     []string
	delayed bool // the chunk under way was delayed
}

func (e *events) add(what string, b []byte) {
	e.log = append(e.log, fmt.Sprintf("%s %d %08x", what, len(b), crc32c.Checksum(b)))
}

func (e *events) LinkFailed(*link.Link, error) {}
func (e *events) Announce()                    {}

func (e *events) Call(payload []byte) (link.Verdict, error) {
	if len(payload)%2 == 1 && !e.delayed {
		e.delayed = true
		return link.Wait, nil
	}
	e.delayed = false
	e.add("call", payload)
	return link.Take, nil
}

func (e *events) Progress(payload []byte) error { e.add("progress", payload); return nil }

func (e *events) Fault(payload []byte) error {
	e.add("fault", payload)
	return errors.New("fault")
}

func (e *events) Expect(n int) ([]byte, link.Verdict, error) {
	switch {
	case n > 1<<16:
		return nil, link.Take, link.Corrupt("%d bytes", n)
	case n%3 == 1:
		e.add(fmt.Sprint("drop ", n), nil)
		return nil, link.Drop, nil
	case n%3 == 2 && !e.delayed:
		e.delayed = true
		return nil, link.Wait, nil
	}
	e.delayed = false
	return make([]byte, n), link.Take, nil
}

func (e *events) Received(data []byte, _ link.Frame) link.Verdict {
	e.add("data", data)
	return link.Take
}

func (e *events) Due() bool                { return true }
func (e *events) Next() (link.Chunk, bool) { return link.Chunk{}, false }
func (e *events) Summed(uint32)            {}
func (e *events) Written()                 {}
func (e *events) Sign() (byte, []byte)     { return 0, nil }
func (e *events) SharesMemory() bool       { return false }
func (e *events) InUse() bool              { return false }

// decode feeds a link with b, in pieces of at most step(i) bytes, and returns the events and the error.
func decode(t *testing.T, b []byte, step func(i int) int) []string {
	t.Helper()
	e := &events{}
	s := &link.Set{Rank: 1, Owner: e, Driver: idle{}, Log: slog.New(slog.DiscardHandler), Failed: make(chan struct{})}
	l := link.New(link.Peer{Rank: 0}, e)
	s.Mu.Lock()
	err := s.Attach(l, link.Peer{Rank: 0})
	s.Mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; err == nil; i++ {
		held := true
		for held && err == nil { // a delayed frame is taken the second time
			held, err = l.Digest()
		}
		if err != nil || len(b) == 0 {
			break
		}
		space := l.Space()
		if len(space) == 0 {
			t.Fatal("no space for the next bytes")
		}
		n := copy(space[:min(len(space), max(step(i), 1))], b)
		l.Filled(n)
		b = b[n:]
	}
	if err != nil {
		e.log = append(e.log, err.Error())
	}
	return e.log
}

// FuzzDigest checks that arbitrary bytes never make a link panic, and that the result does not
// depend on the sizes of the reads.
func FuzzDigest(f *testing.F) {
	var all []byte
	for i, n := range []int{0, 1, 2, 3, 16, 100, 300} {
		all = link.AppendFrame(all, link.FrameCall, make([]byte, min(n, link.MaxCall)))
		all = link.AppendFrame(all, link.FrameData, make([]byte, n))
		all = link.AppendFrame(all, link.FrameProgress, make([]byte, i))
	}
	all = link.AppendFrame(all, link.FrameUpgrade, []byte{1, 2, 3})
	f.Add(slices.Clone(all), uint8(7))
	f.Add(link.AppendFrame(slices.Clone(all), link.FrameRingOffer, make([]byte, link.MaxRingOffer)), uint8(100))
	f.Add(link.AppendFrame(slices.Clone(all), link.FrameRingSwitch, []byte{1, 0, 0, 0}), uint8(1))
	f.Add(link.AppendFrame(slices.Clone(all), link.FrameFault, []byte("gives up")), uint8(255))
	f.Fuzz(func(t *testing.T, b []byte, cut uint8) {
		whole := decode(t, b, func(int) int { return len(b) })
		cuts := decode(t, b, func(i int) int { return int(cut)*(i%3)/2 + 1 })
		if !slices.Equal(whole, cuts) {
			t.Errorf("cut by %d: got %q, want %q", cut, cuts, whole)
		}
	})
}
