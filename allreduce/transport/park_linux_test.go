// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"runtime/pprof"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pair returns the two ends of a stream.
func pair(t *testing.T) [2]int {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Close(fds[0])
		unix.Close(fds[1])
	})
	return fds
}

// fill writes until there is no room.
func fill(t *testing.T, fd int) {
	t.Helper()
	for {
		if _, err := unix.Write(fd, make([]byte, 1<<16)); err != nil {
			return
		}
	}
}

const liveness = 10 * time.Second // many times what a wake-up takes

// TestPollerWakes checks each reason to wake up, by a goroutine that parks and by one that blocks its thread.
func TestPollerWakes(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"parks", "blocks"} {
		for _, event := range []struct {
			name                string
			read, write         bool
			before, meanwhile   func(t *testing.T, other int)
			readable, writeable bool
		}{
			{name: "bytes arrive", read: true, meanwhile: func(t *testing.T, other int) { unix.Write(other, []byte{1}) }, readable: true},
			{name: "bytes are there", read: true, before: func(t *testing.T, other int) { unix.Write(other, []byte{1}) }, readable: true},
			{name: "there is room", write: true, meanwhile: func(t *testing.T, other int) {
				for b := make([]byte, 1<<16); ; {
					if n, err := unix.Read(other, b); n <= 0 || err != nil {
						return
					}
				}
			}, writeable: true},
			{name: "the other end closes", read: true, write: true, meanwhile: func(t *testing.T, other int) { unix.Shutdown(other, unix.SHUT_RDWR) }, readable: true, writeable: true},
		} {
			t.Run(way+"/"+event.name, func(t *testing.T) {
				t.Parallel()
				fds := pair(t)
				if event.write {
					fill(t, fds[0])
				}
				if event.before != nil {
					event.before(t, fds[1])
				}
				p := Poller{refused: way == "blocks"}
				defer p.Close()
				var wg sync.WaitGroup
				defer wg.Wait()
				if event.meanwhile != nil {
					wg.Go(func() {
						time.Sleep(time.Millisecond)
						event.meanwhile(t, fds[1])
					})
				}
				for range 2 { // the second wait finds the state unchanged
					p.Clear()
					unused := p.Add(fds[1], false, false)
					k := p.Add(fds[0], event.read, event.write)
					p.Wait(int64(liveness))
					read, write := p.Ready(k)
					for event.read && event.write && !(read && write) { // an end comes in two steps
						p.Wait(int64(liveness))
						read, write = p.Ready(k)
					}
					if read != event.readable || write != event.writeable {
						t.Errorf("readable %v, writeable %v, want %v and %v", read, write, event.readable, event.writeable)
					}
					if read, write := p.Ready(unused); read || write {
						t.Error("a descriptor that is not waited for is ready")
					}
				}
			})
		}
	}
}

// TestPollerLimits checks that a wait ends in time, and that a limit does not outlive its wait.
func TestPollerLimits(t *testing.T) {
	t.Parallel()
	fds := pair(t)
	bell, err := NewWaker()
	if err != nil {
		t.Fatal(err)
	}
	defer bell.Close()
	var p Poller
	defer p.Close()
	wait := func(d time.Duration) time.Duration {
		p.Clear()
		k := p.Add(fds[0], true, false)
		p.AddWaker(bell)
		began := time.Now()
		p.Wait(int64(d))
		if read, _ := p.Ready(k); read {
			t.Error("a silent descriptor is ready")
		}
		return time.Since(began)
	}
	for range 2 {
		if took := wait(0); took > liveness {
			t.Errorf("a look took %v", took)
		}
		if took := wait(20 * time.Millisecond); took < 20*time.Millisecond || took > liveness {
			t.Errorf("a wait of 20 ms took %v", took)
		}
		began := time.Now()
		time.AfterFunc(50*time.Millisecond, bell.Wake)
		wait(-1)
		if took := time.Since(began); took < 50*time.Millisecond {
			t.Errorf("a wait without a limit took %v, before the bell", took)
		}
		bell.Clear()
	}
}

// TestPollerOfManyDescriptors checks a wait that is too large for a goroutine to park.
func TestPollerOfManyDescriptors(t *testing.T) {
	t.Parallel()
	var p Poller
	defer p.Close()
	var last [2]int
	for range maxParked + 1 {
		last = pair(t)
		p.Add(last[0], true, false)
	}
	if _, err := unix.Write(last[1], []byte{1}); err != nil {
		t.Fatal(err)
	}
	p.Wait(int64(liveness))
	for k := range maxParked + 1 {
		if read, _ := p.Ready(k); read != (k == maxParked) {
			t.Errorf("descriptor %d: readable %v", k, read)
		}
	}
}

// TestPollerNeedsNoThread checks that goroutines that wait need no threads of their own.
func TestPollerNeedsNoThread(t *testing.T) {
	const waiters = 200
	bells := make([]*Waker, waiters)
	threads := pprof.Lookup("threadcreate").Count()
	var wg sync.WaitGroup
	for i := range bells {
		bell, err := NewWaker()
		if err != nil {
			t.Fatal(err)
		}
		defer bell.Close()
		bells[i] = bell
		wg.Go(func() {
			var p Poller
			defer p.Close()
			p.AddWaker(bell)
			p.Wait(-1)
		})
	}
	time.Sleep(50 * time.Millisecond) // long enough for those that would need a thread
	if more := pprof.Lookup("threadcreate").Count() - threads; more > waiters/2 {
		t.Errorf("%d waits have started %d threads", waiters, more)
	}
	for _, bell := range bells {
		bell.Wake()
	}
	wg.Wait()
}

func TestPollerAllocatesNothing(t *testing.T) {
	fds := pair(t)
	var p Poller
	defer p.Close()
	if n := testing.AllocsPerRun(100, func() {
		p.Clear()
		p.Add(fds[0], true, false)
		p.Wait(0)
		p.Wait(int64(10 * time.Microsecond))
		p.Add(fds[0], false, true)
		p.Wait(-1)
	}); n != 0 {
		t.Errorf("%v allocations a wait, want 0", n)
	}
}
