// SPDX-License-Identifier: Apache-2.0

//go:build rdma && linux

package verbs

import (
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// TestGuestVanished: a device that is taken away while streams are open: nothing hangs, all is
// closed without an error, and the device's name is gone. When it is there again it is used.
//
// An error is not sure to come. Linux 6.1 lets a device live until the last one who has it open is
// gone; and with its interface deleted Soft-RoCE completes a request with status 2, or at other times
// tries to send it for good. Who waits for what does not come is then told by the group's deadline:
// see TestGuestVanished of package allreduce.
func TestGuestVanished(t *testing.T) {
	t.Run("the device", func(t *testing.T) { vanish(t, "/bin/rdma", "link", "delete", "rxe1") })
	t.Run("its interface", func(t *testing.T) { vanish(t, "/bin/ip", "link", "delete", "veth1") }) // and the other one's with it
}

func vanish(t *testing.T, command ...string) {
	inGuest(t)
	a, b := guestDomain(t, "10.77.0.1"), guestDomain(t, "10.77.0.2")
	from, to := guestLinked(t, a, b, 1)
	mem := make([]byte, 1<<20)
	if err := b.Register(mem); err != nil {
		t.Fatal(err)
	}
	written, err := from[0].Write(nil, make([]byte, 100_000))
	if err != nil {
		t.Fatal(err)
	}
	taking := exec.Command(command[0], command[1:]...)
	var talk strings.Builder
	taking.Stdout, taking.Stderr = &talk, &talk
	if err := taking.Start(); err != nil {
		t.Fatal(err)
	}
	failed, begun, read := error(nil), time.Now(), 0
	for failed == nil && time.Since(begun) < 3*time.Second {
		n, err := from[0].Write(nil, make([]byte, 10))
		k, e := to[0].Read(make([]byte, 200_000))
		written, read = written+n, read+k
		for _, err := range []error{err, e} {
			if err != nil && err != ErrAgain && failed == nil {
				failed = err
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("after %v: %v; %d bytes were written, %d read", time.Since(begun).Round(time.Millisecond), failed, written, read)
	if e, ok := errors.AsType[*Error](failed); failed != nil && (!ok || !strings.HasPrefix(e.Place.Device, "rxe")) {
		t.Errorf("got %v, want an error that names the device", failed)
	}
	closed := time.Now()
	if err := errors.Join(from[0].Close(), to[0].Close(), a.Close(), b.Close()); err != nil {
		t.Errorf("closing what has vanished: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- taking.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("%v: %v %s", command, err, &talk)
		}
	case <-time.After(guestLimit):
		t.Fatalf("%v has not ended %v after all was closed", command, guestLimit)
	}
	t.Logf("it has vanished %v after all was closed", time.Since(closed).Round(time.Millisecond))
	gone := func() (bool, error) {
		_, err := System().Open(Place{Device: "rxe1", Port: 1})
		return err != nil && strings.Contains(err.Error(), "device rxe1 is gone"), nil
	}
	if err := until(gone); err != nil {
		t.Errorf("the device is still there: %v", err)
	}
	devices, _ := System().Devices()
	_, err = Choose(devices, Auto, netip.MustParseAddr("10.77.0.2"))
	if _, ok := errors.AsType[*SetupError](err); !ok {
		t.Errorf("got %v, want that no device has the address", err)
	}
	if out, err := exec.Command("/bin/sh", "/devices").CombinedOutput(); err != nil {
		t.Fatalf("the devices cannot be made anew: %v\n%s", err, out)
	}
	guestPair(t)
}

// guestLinked returns n streams from a to b, and their other ends.
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

// until repeats a call until it reports that it is done.
func until(call func() (bool, error)) error {
	for begun := time.Now(); ; transport.Yield() {
		done, err := call()
		if done || err != nil {
			return err
		}
		if time.Since(begun) > guestLimit {
			return fmt.Errorf("it has taken %v", guestLimit)
		}
	}
}
