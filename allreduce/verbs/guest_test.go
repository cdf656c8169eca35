// SPDX-License-Identifier: Apache-2.0

//go:build rdma && linux

package verbs

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The tests of this file run in the guest of tests/rdma, over Soft-RoCE.

// guestLimit ends a wait of a test. It is long, since an emulated processor on a loaded machine is slow.
const guestLimit = 2 * time.Minute

func inGuest(t *testing.T) {
	t.Helper()
	if os.Getenv("GVW_RDMA_GUEST") == "" {
		t.Skip("needs the guest of tests/rdma")
	}
}

// guestDomain opens the device that has the address.
func guestDomain(t *testing.T, addr string) *Domain {
	t.Helper()
	devices, err := System().Devices()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Choose(devices, Auto, netip.MustParseAddr(addr))
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDomain(System(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// guestPair returns two connected streams, one on each device.
func guestPair(t *testing.T) (a, b *Stream) {
	t.Helper()
	inGuest(t)
	ends := [2]*Stream{}
	for i, addr := range []string{"10.77.0.1", "10.77.0.2"} {
		s, err := guestDomain(t, addr).NewStream()
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
	for i, s := range ends {
		if err := s.Accept(ends[1-i].Offer()); err != nil {
			t.Fatal(err)
		}
	}
	return ends[0], ends[1]
}

// wantStatus writes to s until that is an error, which is to have the status.
func fails(t *testing.T, s *Stream, n int, want Status) {
	t.Helper()
	begun := time.Now()
	for time.Since(begun) < guestLimit {
		_, err := s.Write(nil, make([]byte, n))
		if err == nil || err == ErrAgain {
			time.Sleep(time.Millisecond)
			continue
		}
		if e, ok := errors.AsType[*Error](err); !ok || e.Status != want || e.Place.Device != "rxe0" {
			t.Fatalf("got %v, want rxe0 and status %d", err, want)
		}
		t.Logf("after %v: %v", time.Since(begun).Round(time.Millisecond), err)
		return
	}
	t.Fatalf("no error in %v", guestLimit)
}

func TestGuestDevices(t *testing.T) {
	inGuest(t)
	devices, err := System().Devices()
	if err != nil || len(devices) != 2 {
		t.Fatalf("got %v, %v, want two devices", devices, err)
	}
	for i, d := range devices {
		p := d.Ports[0]
		if d.Name != fmt.Sprintf("rxe%d", i) || !p.Active || p.Link != LinkEthernet || p.MTU != 4096 || d.Atomics != AtomicsDevice || d.Limits.Works < 1000 {
			t.Errorf("%+v", d)
		}
	}
	if _, err := System().Open(Place{Device: "rxe7"}); err == nil || !strings.Contains(err.Error(), "device rxe7 is gone") {
		t.Errorf("opening a missing device: %v", err)
	}
}

// Bytes arrive in both directions, copied and sent directly.
func TestGuestBytes(t *testing.T) {
	a, b := guestPair(t)
	data := make([]byte, 3<<20)
	for i := range data {
		data[i] = byte(i * i >> 7)
	}
	if err := a.domain.Register(data); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to *Stream }{{a, b}, {b, a}} {
		var got []byte
		buf := make([]byte, 100_000)
		for sent := 0; len(got) < len(data); {
			n, err := c.from.Write(nil, data[sent:])
			if err != nil && err != ErrAgain {
				t.Fatal(err)
			}
			sent += n
			if n, err = c.to.Read(buf); err != nil && err != ErrAgain {
				t.Fatal(err)
			}
			got = append(got, buf[:n]...)
		}
		if !bytes.Equal(got, data) {
			t.Error("other bytes")
		}
	}
	if a.Direct != int64(len(data)) || b.Bounced != int64(len(data)) {
		t.Errorf("%d bytes were sent directly, %d copied, want %d", a.Direct, b.Bounced, len(data))
	}
	if err := a.domain.Unregister(data); err != nil {
		t.Error(err)
	}
}

func TestGuestWrongKey(t *testing.T) {
	a, b := guestPair(t)
	a.peer.keys[0] ^= 0xff00
	fails(t, a, 100_000, RemoteAccess)
	_ = b
}

// A message in a slot cannot be overwritten: its key is not valid any more, and the next one not yet.
func TestGuestUnwritableSlot(t *testing.T) {
	for _, c := range []struct {
		name string
		key  func(was uint32) uint32
	}{
		{"the key it had", func(was uint32) uint32 { return was }},
		{"the key it will have", nextKey},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := guestPair(t)
			if !b.window.bound() {
				t.Fatal("the device has no memory windows")
			}
			was, data := a.peer.keys[0], make([]byte, slotSize)
			if n, err := a.Write(nil, data); n != len(data) {
				t.Fatal(n, err)
			}
			for begun := time.Now(); b.window.closed == 0 || b.pending > 0; b.progress() {
				if time.Since(begun) > guestLimit || b.err != nil {
					t.Fatal("the slot is still writable: ", b.err)
				}
			}
			a.used.windowSlots, a.credit.windowSlots, a.peer.keys[0] = 0, 0, c.key(was)
			fails(t, a, slotSize, RemoteAccess)
			if n, err := b.Read(make([]byte, 2*slotSize)); n != slotSize {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	}
}

func TestGuestBrokenQueue(t *testing.T) {
	a, b := guestPair(t)
	if err := a.Break(); err != nil {
		t.Fatal(err)
	}
	fails(t, a, 10, Flushed)
	_ = b
}

// A sender that exceeds its credit fails after a finite number of RNR retries.
func TestGuestOverrun(t *testing.T) {
	a, b := guestPair(t)
	begun := time.Now()
	for a.err == nil && time.Since(begun) < guestLimit {
		a.credit = a.used // as if all had been read
		_, _ = a.Write(nil, make([]byte, 10))
		time.Sleep(100 * time.Microsecond)
	}
	if e, ok := errors.AsType[*Error](a.err); !ok || e.Status != ReceiverNotRdy {
		t.Errorf("got %v, want ReceiverNotRdy", a.err)
	}
	t.Logf("after %v: %v", time.Since(begun).Round(time.Millisecond), a.err)
	_ = b
}

// A port that goes down is an error after a finite number of retries.
func TestGuestPortDown(t *testing.T) {
	a, b := guestPair(t)
	link := func(state string) {
		if out, err := exec.Command("/bin/ip", "link", "set", "veth1", state).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	link("down")
	defer waitActive(t)
	defer link("up")
	fails(t, a, 10, RetryExceeded)
	_ = b
}

// waitActive waits until both devices have their addresses again.
func waitActive(t *testing.T) {
	for range 200 {
		ok := 0
		devices, err := System().Devices()
		for _, addr := range []string{"10.77.0.1", "10.77.0.2"} {
			if _, e := Choose(devices, Auto, netip.MustParseAddr(addr)); err == nil && e == nil {
				ok++
			}
		}
		if ok == 2 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("the port has not come up again")
}

// The death of the other process is an error after a finite number of retries.
func TestGuestPeerKilled(t *testing.T) {
	inGuest(t)
	a, err := guestDomain(t, "10.77.0.1").NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^TestGuestPeer$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("VERBS_TEST_PEER=%x", a.Offer()))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var theirs []byte
	if _, err := fmt.Fscanf(out, "%x\n", &theirs); err != nil {
		t.Fatal(err)
	}
	if err := a.Accept(theirs); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Write([]byte("hello"), nil); err != nil {
		t.Fatal(err)
	}
	for !a.Flushed() {
		time.Sleep(time.Millisecond)
	}
	if a.err != nil {
		t.Fatal(a.err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	fails(t, a, 10, RetryExceeded)
}

// TestGuestPeer is the other end of TestGuestPeerKilled.
func TestGuestPeer(t *testing.T) {
	var theirs []byte
	if _, err := fmt.Sscanf(os.Getenv("VERBS_TEST_PEER"), "%x", &theirs); err != nil {
		t.Skip("this is a process of TestGuestPeerKilled")
	}
	s, err := guestDomain(t, "10.77.0.2").NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Accept(theirs); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%x\n", s.Offer())
	time.Sleep(time.Minute)
}

// A registration beyond the limit of locked memory fails with advice.
func TestGuestLockedMemory(t *testing.T) {
	inGuest(t)
	if os.Getuid() != 0 {
		d := guestDomain(t, "10.77.0.1")
		if err := syscall.Setrlimit(8 /* RLIMIT_MEMLOCK */, &syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}); err != nil {
			t.Fatal(err)
		}
		_, err := d.NewStream()
		if e, ok := errors.AsType[*RegisterError](err); !ok || e.Limit != 64<<10 || !strings.Contains(err.Error(), "ulimit -l unlimited") {
			t.Fatalf("got %v", err)
		}
		t.Log(err)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestGuestLockedMemory$", "-test.v")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS")) {
		t.Errorf("%v\n%s", err, out)
	}
}
