// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// pipeEnds returns the two ends of a ring, as two processes would have them.
func pipeEnds(t testing.TB) (a, b *Ring) {
	t.Helper()
	l, err := transport.TCP.Listen(context.Background(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled := make(chan net.Conn, 1)
	go func() {
		c, err := transport.TCP.Dial(context.Background(), l.Addr().String())
		if err != nil {
			t.Error(err)
		}
		dialled <- c
	}()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	seg, err := NewSegment(RingBytes, 0)
	if err != nil {
		t.Fatal(err)
	}
	far, err := OpenSegment(seg.Location())
	if err != nil {
		t.Fatal(err)
	}
	end := func(c net.Conn, s *Segment, first bool) *Ring {
		sock, err := transport.NewSocket(c)
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewRing(sock, s, first)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b = end(c, seg, true), end(<-dialled, far, false)
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// turnBoth switches both directions to memory.
func turnBoth(a, b *Ring) {
	for _, p := range [...]*Ring{a, b} {
		p.SwitchIn()
		p.SwitchOut()
	}
}

// Bytes arrive in order in both directions at once, however they are cut, and an end
// that waits for the descriptor is woken.
func TestPipeCarries(t *testing.T) {
	const total = 5 << 20
	a, b := pipeEnds(t)
	turnBoth(a, b)
	run := func(p *Ring, seed uint64) error {
		rng := rand.New(rand.NewPCG(seed, 0))
		send, want := rand.NewChaCha8([32]byte{byte(seed)}), rand.NewChaCha8([32]byte{byte(3 - seed)})
		out, buf := make([]byte, 300<<10), make([]byte, 300<<10)
		var left []byte
		sent, got := 0, 0
		var poll transport.Poller
		deadline := time.Now().Add(2 * time.Minute)
		for sent < total || len(left) > 0 || got < total {
			if time.Now().After(deadline) {
				return errors.New("no progress")
			}
			moved := false
			if len(left) == 0 && sent < total {
				left = out[:min(total-sent, 1+rng.IntN(len(out)))]
				send.Read(left)
				sent += len(left)
			}
			if len(left) > 0 {
				k := rng.IntN(len(left) + 1)
				n, err := p.Write(left[:k], left[k:])
				if err != nil && err != transport.ErrAgain {
					return err
				}
				left, moved = left[n:], n > 0
			}
			n, err := p.Read(buf[:1+rng.IntN(len(buf))])
			if err != nil && err != transport.ErrAgain {
				return err
			}
			expect := make([]byte, n)
			want.Read(expect)
			if !bytes.Equal(buf[:n], expect) {
				return errors.New("received other bytes than were sent")
			}
			got += n
			if moved || n > 0 {
				continue
			}
			poll.Clear()
			k := poll.Add(p.FD(), true, false)
			if !p.Arm(got < total, len(left) > 0) {
				poll.Wait(int64(10 * time.Second))
			}
			p.Disarm()
			if read, _ := poll.Ready(k); read {
				p.SocketReadable()
			}
		}
		return nil
	}
	errs := make(chan error)
	go func() { errs <- run(a, 1) }()
	go func() { errs <- run(b, 2) }()
	for range 2 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// Bytes that were written before the end are read before it.
func TestPipeEnds(t *testing.T) {
	a, b := pipeEnds(t)
	turnBoth(a, b)
	if n, err := a.Write([]byte("last "), []byte("words")); n != 10 || err != nil {
		t.Fatalf("wrote %d, %v", n, err)
	}
	a.Shut()
	got := make([]byte, 100)
	if n, err := b.Read(got); string(got[:n]) != "last words" || err != nil {
		t.Errorf("got %q, %v", got[:n], err)
	}
	err := transport.ErrAgain
	for range 2 * pollsPerSocketRead { // without a wake-up
		if _, err = b.Read(got); err != transport.ErrAgain {
			break
		}
	}
	if err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
}

// A writer that waits for room is woken also if its bytes arrive while the reader, which has found
// memory empty, reads the socket.
func TestPipeWakesAWriter(t *testing.T) {
	a, b := pipeEnds(t)
	turnBoth(a, b)
	got := make([]byte, bufferSize)
	if _, err := b.Read(got); err != transport.ErrAgain {
		t.Fatalf("read of an empty pipe: %v", err)
	}
	if n, err := a.Write(make([]byte, bufferSize+1), nil); n != bufferSize || err != nil {
		t.Fatalf("wrote %d, %v", n, err)
	}
	var poll transport.Poller
	defer poll.Close()
	k := poll.Add(a.FD(), true, false)
	if a.Arm(false, true) {
		t.Fatal("a full pipe has room")
	}
	if n, err := b.readSocket(got); n != bufferSize || err != nil {
		t.Fatalf("read %d, %v", n, err)
	}
	poll.Wait(int64(10 * time.Second))
	if woken, _ := poll.Ready(k); !woken {
		t.Error("the writer sleeps, although there is room")
	}
}

// A closed pipe behaves as a closed socket and does not access its memory.
func TestPipeClosed(t *testing.T) {
	a, b := pipeEnds(t)
	turnBoth(a, b)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Write([]byte("x"), nil); err == nil || err == transport.ErrAgain {
		t.Errorf("write: %v", err)
	}
	if _, err := a.Read(make([]byte, 1)); err == nil || err == transport.ErrAgain {
		t.Errorf("read: %v", err)
	}
	if a.Disarm(); a.Arm(true, true) || a.Pending() || a.Room() {
		t.Error("Arm reports pending work on a closed pipe")
	}
}

// Invalid counters in shared memory are errors, not reads out of bounds.
func TestPipeDistrusts(t *testing.T) {
	a, b := pipeEnds(t)
	turnBoth(a, b)
	a.out.written.Store(bufferSize + 1)
	if _, err := b.Read(make([]byte, 10)); err != errBuffer {
		t.Errorf("read: %v", err)
	}
	a.out.written.Store(0)
	b.in.read.Store(5)
	if _, err := a.Write([]byte("x"), nil); err != errBuffer {
		t.Errorf("write: %v", err)
	}
}

// Until it switches, each direction of a ring uses the socket.
func TestPipeTurns(t *testing.T) {
	a, b := pipeEnds(t)
	say := func(from, to *Ring, words string) {
		t.Helper()
		if n, err := from.Write([]byte(words), nil); n != len(words) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		got := make([]byte, 100)
		for range 1000 {
			n, err := to.Read(got)
			if err == transport.ErrAgain {
				time.Sleep(time.Millisecond)
				continue
			}
			if string(got[:n]) != words || err != nil {
				t.Fatalf("got %q, %v; want %q", got[:n], err, words)
			}
			return
		}
		t.Fatal("nothing arrived")
	}
	say(a, b, "one")
	a.SwitchOut()
	b.SwitchIn()
	say(a, b, "two")
	say(b, a, "three")
	if in, out := b.Switched(); !in || out {
		t.Errorf("turned: %v, %v", in, out)
	}
	b.SwitchOut()
	a.SwitchIn()
	say(b, a, "four")
	if a.Pending() || !a.Room() {
		t.Error("bytes are left")
	}
}
