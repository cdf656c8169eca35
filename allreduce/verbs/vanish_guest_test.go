// SPDX-License-Identifier: Apache-2.0

//go:build rdma && linux

package verbs

import (
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestGuestVanished: a device that is taken away while streams are open is an error of what is
// written, which names it, and nothing hangs: all is closed, and the name is gone. When
// it is there again it is used.
func TestGuestVanished(t *testing.T) {
	// Linux 6.1 lets a device live until the last one who has it open is gone.
	t.Run("the device", func(t *testing.T) { vanish(t, false, "/bin/rdma", "link", "delete", "rxe1") })
	// With one interface the other one's goes, too.
	t.Run("its interface", func(t *testing.T) { vanish(t, true, "/bin/ip", "link", "delete", "veth1") })
}

func vanish(t *testing.T, fails bool, command ...string) {
	inGuest(t)
	a, b := guestDomain(t, "10.77.0.1"), guestDomain(t, "10.77.0.2")
	from, to := guestLinked(t, a, b, 1)
	mem := make([]byte, 1<<20)
	if err := b.Register(mem); err != nil {
		t.Fatal(err)
	}
	if _, err := from[0].Write(nil, make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	taking := exec.Command(command[0], command[1:]...)
	var talk strings.Builder
	taking.Stdout, taking.Stderr = &talk, &talk
	if err := taking.Start(); err != nil {
		t.Fatal(err)
	}
	patience := 3 * time.Second
	if fails {
		patience = 30 * time.Second
	}
	failed, begun, written, read := error(nil), time.Now(), 100_000, 0
	for failed == nil && time.Since(begun) < patience {
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
	if fails && failed == nil || !fails && failed == nil && read < 100_000 {
		t.Error("what is written neither fails nor crosses")
	}
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
	case <-time.After(30 * time.Second):
		t.Fatalf("%v has not ended 30 s after all was closed", command)
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
	_, err := Choose(devices, Auto, netip.MustParseAddr("10.77.0.2"))
	if _, ok := errors.AsType[*SetupError](err); !ok {
		t.Errorf("got %v, want that no device has the address", err)
	}
	restore(t)
	guestPair(t)
}

// restore makes the guest's devices anew, as its init does.
func restore(t *testing.T) {
	t.Helper()
	const script = `
ip=/bin/ip
$ip link show veth0 >/dev/null 2>&1 || $ip link add veth0 type veth peer name veth1
for i in 0 1; do
	echo 1 >/proc/sys/net/ipv4/conf/veth$i/accept_local
	echo 0 >/proc/sys/net/ipv4/conf/veth$i/rp_filter
	$ip link set veth$i mtu 4200 up
	$ip addr replace 10.77.0.$((i + 1))/24 dev veth$i
	[ -e /sys/class/infiniband/rxe$i ] || /bin/rdma link add rxe$i type rxe netdev veth$i || exit 1
done`
	if out, err := exec.Command("/bin/sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("the devices cannot be made anew: %v\n%s", err, out)
	}
	waitActive(t)
	if _, err := os.Stat("/sys/class/infiniband/rxe1"); err != nil {
		t.Fatal(err)
	}
}
