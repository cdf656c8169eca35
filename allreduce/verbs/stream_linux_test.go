// SPDX-License-Identifier: Apache-2.0

package verbs_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/allreduce/verbs/verbstest"
)

// pair is two streams over a fabric.
type pair struct {
	f       *verbstest.Fabric
	domains [2]*verbs.Domain
	ends    [2]*verbs.Stream
}

func newPair(t testing.TB, seed uint64, noWindows ...bool) *pair {
	t.Helper()
	p := &pair{f: verbstest.New(seed, verbstest.Device("fake0", "10.77.0.1"))}
	if slices.Contains(noWindows, true) {
		p.f.NoWindows()
	}
	devices, _ := p.f.Devices()
	place, err := verbs.Choose(devices, "", devices[0].Ports[0].GIDs[0].Addr)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.ends {
		if p.domains[i], err = verbs.NewDomain(p.f, place); err != nil {
			t.Fatal(err)
		}
		if p.ends[i], err = p.domains[i].NewStream(); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range p.ends {
		if err := s.Accept(p.ends[1-i].Offer()); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// close closes both streams, and checks that all objects of the fabric are closed.
func (p *pair) close(t testing.TB) {
	t.Helper()
	for i, s := range p.ends {
		if err := errors.Join(s.Close(), s.Close(), p.domains[i].Close(), p.domains[i].Close()); err != nil {
			t.Error(err)
		}
	}
	if left := p.f.Left(); left != "" {
		t.Errorf("left open: %s", left)
	}
}

// message is a frame that goes one way.
type message struct {
	head, data []byte
	direct     bool
}

// sender is one end of an exchange of messages.
type sender struct {
	s    *verbs.Stream
	left []message
	at   int // of the first
}

func (e *sender) step(t *rapid.T) {
	if len(e.left) == 0 {
		return
	}
	m := e.left[0]
	done := min(e.at, len(m.head))
	n, err := e.s.Write(m.head[done:], m.data[e.at-done:])
	if err != nil && err != verbs.ErrAgain {
		t.Fatal(err)
	}
	// The caller may change bytes once they are written.
	for i := e.at; i < e.at+n; i++ {
		if i < len(m.head) {
			m.head[i] = 0xee
		} else {
			m.data[i-len(m.head)] = 0xee
		}
	}
	if e.at += n; e.at == len(m.head)+len(m.data) {
		e.left, e.at = e.left[1:], 0
	}
}

// Long data is sent in few long messages, wherever in the window and in the bounce ring it
// begins.
func TestLongDataUsesFewMessages(t *testing.T) {
	p := newPair(t, 1)
	defer p.close(t)
	a, b := p.ends[0], p.ends[1]
	buf := make([]byte, 1<<20)
	cross := func(n int) (posted int64) {
		before, data, got := a.Posted, make([]byte, n), 0
		for at := 0; got < n; {
			k, err := a.Write(nil, data[at:])
			at += k
			l, e := b.Read(buf)
			got += l
			if err != nil && err != verbs.ErrAgain || e != nil && e != verbs.ErrAgain {
				t.Fatal(err, e)
			}
		}
		return a.Posted - before
	}
	for range 300 {
		cross(4400)
		if n := cross(64 << 10); n > 4 { // one write, two operations on the window, a credit
			t.Fatalf("64 KiB have gone in %d requests, want at most 4", n)
		}
		cross(517_000)
	}
}

// The bytes written at each end, copied or sent directly, are read unchanged at the other,
// however late messages arrive, and all objects are closed at the end.
func TestBytesArriveUnchanged(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPair(t, rapid.Uint64().Draw(rt, "seed"), rapid.Bool().Draw(rt, "no memory windows"))
		defer p.close(t)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "bytes"), 2))
		fill := func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			return b
		}
		most := 12
		if testing.Short() {
			most = 3
			t.Log("sampled: up to 3 messages")
		}
		var ends [2]sender
		var want, got [2][]byte
		for i := range ends {
			ends[i].s = p.ends[i]
			for range rapid.IntRange(0, most).Draw(rt, "messages") {
				n := rapid.SampledFrom([]int{0, 1, 100, 4095, 4096, 4352, 4353, 16 << 10, 65_537, 300_000, 1_200_000}).Draw(rt, "length")
				m := message{head: fill(rapid.IntRange(0, 200).Draw(rt, "head")), data: fill(n), direct: rapid.Bool().Draw(rt, "registered")}
				want[i] = append(append(want[i], m.head...), m.data...)
				if m.direct {
					if err := p.domains[i].Register(m.data); err != nil {
						rt.Fatal(err)
					}
				}
				if len(m.head)+n > 0 {
					ends[i].left = append(ends[i].left, m)
				}
			}
		}
		buf := make([]byte, 70_000)
		for begun := time.Now(); len(got[0]) < len(want[1]) || len(got[1]) < len(want[0]) || len(ends[0].left)+len(ends[1].left) > 0; {
			if time.Since(begun) > 2*time.Minute {
				rt.Fatalf("no progress: read %d of %d, %d of %d; to write %d, %d", len(got[0]), len(want[1]), len(got[1]), len(want[0]), len(ends[0].left), len(ends[1].left))
			}
			i := rng.IntN(2)
			ends[i].step(rt)
			n, err := p.ends[i].Read(buf[:1+rng.IntN(len(buf))])
			if err != nil && err != verbs.ErrAgain {
				rt.Fatal(err)
			}
			got[i] = append(got[i], buf[:n]...)
		}
		for i := range got {
			if !bytes.Equal(got[i], want[1-i]) {
				rt.Fatalf("end %d has read other bytes", i)
			}
		}
	})
}

// An armed end sleeps until a message arrives.
func TestArmedEndIsWoken(t *testing.T) {
	p := newPair(t, 1)
	defer p.close(t)
	a, b := p.ends[0], p.ends[1]
	readable := func(s *verbs.Stream) bool {
		fds := []unix.PollFd{{Fd: int32(s.FD()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		return err == nil && n == 1
	}
	if b.Arm(true, false) || readable(b) {
		t.Fatal("Arm reports a message before any was sent")
	}
	if _, err := a.Write([]byte("news"), nil); err != nil {
		t.Fatal(err)
	}
	if !readable(b) {
		t.Fatal("the armed end was not woken")
	}
	b.Silence()
	if readable(b) {
		t.Fatal("still readable after Silence")
	}
	if !b.Arm(true, false) {
		t.Fatal("Arm does not report the message that has arrived")
	}
	got := make([]byte, 10)
	if n, err := b.Read(got); err != nil || string(got[:n]) != "news" {
		t.Fatalf("got %q, %v", got[:n], err)
	}
	// A full window: the writer sleeps until the reader has read.
	big := make([]byte, 1<<20)
	for full := 0; full < 3; { // Arm may report free space in the bounce ring
		if _, err := a.Write(nil, big); err == verbs.ErrAgain && !a.Arm(false, true) {
			full++
		}
	}
	a.Silence()
	for range 40 {
		if _, err := b.Read(big); err != nil {
			break
		}
	}
	if !readable(a) || !a.Arm(false, true) {
		t.Fatal("the writer was not woken by credit")
	}
}

func TestFaultsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault func(p *pair) error // returns the error of end 0
		want  string
	}{
		{"the other end is gone", func(p *pair) error {
			p.ends[1].Close()
			return writeUntil(p.ends[0])
		}, "fake0 port 1: send: transport retry counter exceeded"},
		{"broken here", func(p *pair) error {
			p.ends[0].Break()
			return writeUntil(p.ends[0])
		}, "flushed: the queue pair is in error"},
		{"broken there", func(p *pair) error {
			p.f.BreakAll()
			_, err := p.ends[0].Read(make([]byte, 1))
			return err
		}, "(status 5, vendor error 0x0)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, 3)
			defer p.close(t)
			err := c.fault(p)
			if e, ok := errors.AsType[*verbs.Error](err); !ok || !strings.Contains(err.Error(), c.want) || e.Place.Device != "fake0" {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func writeUntil(s *verbs.Stream) error {
	for range 1000 {
		if _, err := s.Write([]byte("x"), nil); err != nil && err != verbs.ErrAgain {
			return err
		}
	}
	return nil
}

// A write with a key that is not the window's is refused.
func TestAnOfferOfAnotherKey(t *testing.T) {
	p := newPair(t, 4)
	defer p.close(t)
	s, err := p.domains[0].NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	o, err := p.domains[1].NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	theirs := o.Offer()
	theirs[57] ^= 0x55
	if err := errors.Join(s.Accept(theirs), o.Accept(s.Offer())); err != nil {
		t.Fatal(err)
	}
	for err == nil || err == verbs.ErrAgain {
		_, err = s.Write(nil, make([]byte, 100_000))
	}
	if e, ok := errors.AsType[*verbs.Error](err); !ok || e.Status != verbs.RemoteAccess || e.Op != verbs.OpWriteNote {
		t.Errorf("got %v", err)
	}
}

// A refused registration is an error with advice, and leaves nothing open.
func TestRegistrationRefused(t *testing.T) {
	p := newPair(t, 5)
	p.f.Refuse(1)
	_, err := p.domains[0].NewStream()
	if e, ok := errors.AsType[*verbs.RegisterError](err); !ok || e.Bytes == 0 || !errors.Is(err, unix.ENOMEM) {
		t.Errorf("got %v", err)
	}
	e := &verbs.RegisterError{Place: verbs.Place{Device: "rxe0"}, Bytes: 1 << 20, Limit: 65536, Err: unix.ENOMEM}
	if want := "rxe0: cannot register 1048576 bytes of memory: cannot allocate memory; this process may lock 65536 bytes: raise the limit with ulimit -l"; !strings.HasPrefix(e.Error(), want) {
		t.Errorf("got %q, want %q …", e, want)
	}
	if err := p.domains[0].Register(make([]byte, 10)); err == nil {
		t.Error("Register: no error")
	}
	p.close(t)
}

// NewStream fails on a device that has room for fewer work requests than a stream may post.
func TestDeviceWithTooFewWorkRequests(t *testing.T) {
	d := verbstest.Device("fake0", "10.77.0.1")
	d.Limits.Works = 63
	f := verbstest.New(1, d)
	place, err := verbs.Choose([]verbs.Device{d}, "", d.Ports[0].GIDs[0].Addr)
	if err != nil {
		t.Fatal(err)
	}
	domain, err := verbs.NewDomain(f, place)
	if err != nil {
		t.Fatal(err)
	}
	defer domain.Close()
	if s, err := domain.NewStream(); err == nil || !strings.Contains(err.Error(), "has room for 63 work requests") {
		t.Errorf("got %v, %v", s, err)
	}
}

// Reads and writes do not allocate.
func TestNothingAllocates(t *testing.T) {
	p := newPair(t, 6)
	defer p.close(t)
	head, buf := make([]byte, 16), make([]byte, 1<<20)
	for name, data := range map[string][]byte{"copied": make([]byte, 256<<10), "direct": make([]byte, 256<<10), "small": make([]byte, 64)} {
		if name == "direct" {
			if err := p.domains[0].Register(data); err != nil {
				t.Fatal(err)
			}
		}
		carry := func() {
			sent, got, total := 0, 0, len(head)+len(data)
			for sent < total || got < total {
				done := min(sent, len(head))
				n, _ := p.ends[0].Write(head[done:], data[sent-done:])
				sent += n
				n, _ = p.ends[1].Read(buf)
				got += n
			}
		}
		carry()
		if n := testing.AllocsPerRun(20, carry); n >= 1 { // the fabric's lists grow, now and then
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
