// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func gid(i int, addr string, k GIDKind) GID {
	return GID{Index: i, Addr: netip.AddrFrom16(netip.MustParseAddr(addr).As16()), Kind: k}
}

func TestChoose(t *testing.T) {
	roce := func(name string, active bool, addrs ...string) Device {
		p := Port{Number: 1, Active: active, State: "down", Link: LinkEthernet, MTU: 1024}
		p.GIDs = append(p.GIDs, gid(0, "fe80::1", GIDRoCE1), gid(1, "fe80::1", GIDRoCE2))
		for i, a := range addrs {
			p.GIDs = append(p.GIDs, gid(2+2*i, a, GIDRoCE1), gid(3+2*i, a, GIDRoCE2))
		}
		return Device{Name: name, Ports: []Port{p}}
	}
	ib := Device{Name: "mlx5_2", Ports: []Port{
		{Number: 1, State: "polling", Link: LinkInfiniBand},
		{Number: 2, Active: true, State: "active", Link: LinkInfiniBand, LID: 7, GIDs: []GID{gid(0, "fe80::2", GIDInfiniBand)}},
	}}
	down, a, b := roce("rxe9", false, "10.0.0.9"), roce("rxe0", true, "10.0.0.1", "fd00::1"), roce("rxe1", true, "10.0.0.2")
	bare := roce("rxe2", true)
	for _, c := range []struct {
		name    string
		devices []Device
		want    string
		bound   string
		place   string // the chosen port, or the error
		gid     int
	}{
		{"none", nil, "auto", "10.0.0.1", "there is no RDMA device on this machine", 0},
		{"by the bound address", []Device{down, a, b}, "", "10.0.0.2", "rxe1 port 1", 3},
		{"by the bound IPv6 address", []Device{down, b, a}, "auto", "fd00::1", "rxe0 port 1", 5},
		{"none has it", []Device{a, down}, "auto", "10.9.9.9", "no port can be used: rxe0 port 1 has no RoCE v2 address that is 10.9.9.9; rxe9 port 1 is not active (down)", 0},
		{"the loopback", []Device{down, bare, a}, "auto", "127.0.0.1", "rxe2 port 1", 1},
		{"all addresses", []Device{down, a}, "auto", "::", "rxe0 port 1", 3},
		{"no bound address", []Device{a}, "auto", "", "rxe0 port 1", 3},
		{"InfiniBand", []Device{down, ib}, "auto", "10.0.0.1", "mlx5_2 port 2", 0},
		{"by name", []Device{a, b}, "rxe1", "10.0.0.1", "rxe1 port 1", 3},
		{"by name and port", []Device{a, ib}, "mlx5_2:2", "10.0.0.1", "mlx5_2 port 2", 0},
		{"that port is down", []Device{ib}, "mlx5_2:1", "", "mlx5_2 port 1 is not active (polling)", 0},
		{"no such port", []Device{a, ib}, "mlx5_2:3", "", `no port matches "mlx5_2:3" on the devices rxe0, mlx5_2`, 0},
		{"no such name", []Device{a, ib}, "mlx4_0", "", `no RDMA device "mlx4_0": use one of rxe0, mlx5_2`, 0},
		{"by address", []Device{a, b}, "10.0.0.2", "10.0.0.1", "rxe1 port 1", 3},
		{"an unknown address", []Device{a}, "10.0.0.7", "10.0.0.1", "has no RoCE v2 address that is 10.0.0.7", 0},
		{"bad port", []Device{a}, "rxe0:x", "", `"rxe0:x" is not a device`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var bound netip.Addr
			if c.bound != "" {
				bound = netip.MustParseAddr(c.bound)
			}
			p, err := Choose(c.devices, c.want, bound)
			got := p.String()
			if err != nil {
				got = err.Error()
			}
			_, setup := errors.AsType[*SetupError](err)
			if want := err != nil && !strings.Contains(got, "not active"); setup != want {
				t.Errorf("%v: is a *SetupError: %v, want %v", err, setup, want)
			}
			if !strings.Contains(got, c.place) || err == nil && p.GID.Index != c.gid {
				t.Errorf("got %s with GID %d, want %s with %d", got, p.GID.Index, c.place, c.gid)
			}
		})
	}
}

func TestErrorTexts(t *testing.T) {
	p := Place{Device: "rxe0", Port: 1}
	for _, c := range []struct {
		err  *Error
		want string
	}{
		{&Error{p, OpWriteNote, RetryExceeded, 0x81}, "rxe0 port 1: RDMA write with immediate: transport retry counter exceeded: the other end does not respond (status 12, vendor error 0x81)"},
		{&Error{p, OpSend, Status(99), 0}, "rxe0 port 1: send: status 99 of libibverbs (vendor error 0x0)"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
