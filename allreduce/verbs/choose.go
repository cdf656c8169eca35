// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Auto lets [Choose] find a device.
const Auto = "auto"

// Choose returns the port to use. want is a device's name, with a port as in mlx5_0:2 unless
// its first active port is meant; an IP address of a port; or [Auto] (also ""), which
// selects any device. bound is the address at which other ranks reach this one. Over
// Ethernet the port must have that address, unless it is a loopback or unspecified address or
// want names the device. A fault of the machine's configuration is a [SetupError].
func Choose(devices []Device, want string, bound netip.Addr) (Place, error) {
	if len(devices) == 0 {
		return Place{}, setupErrorf("verbs: there is no RDMA device on this machine")
	}
	bound = bound.Unmap().WithZone("")
	anywhere := !bound.IsValid() || bound.IsLoopback() || bound.IsUnspecified()
	name, port, err := parseWant(want)
	if err != nil {
		return Place{}, err
	}
	if addr, err := netip.ParseAddr(want); err == nil {
		bound, anywhere, name, port = addr.Unmap().WithZone(""), false, "", 0
	}
	known, down := false, false
	var why []string
	for _, d := range devices {
		if name != "" && d.Name != name {
			continue
		}
		known = true
		for _, p := range d.Ports {
			if port != 0 && p.Number != port {
				continue
			}
			gid, reason := p.choose(bound, anywhere, name != "")
			if reason == "" {
				return Place{
					Device: d.Name, Port: p.Number, Link: p.Link, MTU: p.MTU, MaxMessage: p.MaxMessage,
					LID: p.LID, GID: gid, Limits: d.Limits,
				}, nil
			}
			down = down || !p.Active
			why = append(why, fmt.Sprintf("%s port %d %s", d.Name, p.Number, reason))
		}
	}
	switch {
	case !known:
		return Place{}, setupErrorf("verbs: no RDMA device %q: use one of %s", name, names(devices))
	case len(why) == 0:
		return Place{}, setupErrorf("verbs: no port matches %q on the devices %s", want, names(devices))
	}
	err = fmt.Errorf("verbs: no port can be used: %s", strings.Join(why, "; "))
	if !down {
		err = &SetupError{err}
	}
	return Place{}, err
}

// choose returns the port's GID to use, or the reason why there is none.
func (p Port) choose(bound netip.Addr, anywhere, named bool) (best GID, why string) {
	if !p.Active {
		return GID{}, fmt.Sprintf("is not active (%s)", p.State)
	}
	if p.Link == LinkInfiniBand {
		if len(p.GIDs) > 0 {
			best = p.GIDs[0]
		}
		return best, ""
	}
	rank := 0
	for _, g := range p.GIDs {
		if g.Kind != GIDRoCE2 {
			continue
		}
		if r := fit(g.Addr.Unmap(), bound, anywhere || named); r > rank {
			best, rank = g, r
		}
	}
	switch {
	case rank > 0:
		return best, ""
	case anywhere || named:
		return GID{}, "has no RoCE v2 address: assign an IP address to its interface"
	}
	return GID{}, fmt.Sprintf("has no RoCE v2 address that is %v", bound)
}

// fit ranks an address: the bound one first, then IPv4, then routable ones. 0: the address is
// not allowed.
func fit(addr, bound netip.Addr, any bool) int {
	switch {
	case addr == bound:
		return 4
	case !any:
		return 0
	case addr.Is4():
		return 3
	case !addr.IsLinkLocalUnicast():
		return 2
	}
	return 1
}

// parseWant splits the name of a device from a port. For Auto and addresses both are empty.
func parseWant(want string) (name string, port int, err error) {
	if _, err := netip.ParseAddr(want); want == "" || want == Auto || err == nil {
		return "", 0, nil
	}
	name, number, given := strings.Cut(want, ":")
	if !given {
		return name, 0, nil
	}
	if port, err = strconv.Atoi(number); err != nil || port < 1 || port > 255 || name == "" {
		return "", 0, setupErrorf("verbs: %q is not a device: want auto, a name, name:port, or an IP address", want)
	}
	return name, port, nil
}

// CheckDevice checks the syntax of a device's name, without access to any device.
func CheckDevice(want string) error {
	_, _, err := parseWant(want)
	return err
}

func names(devices []Device) string {
	var all []string
	for _, d := range devices {
		all = append(all, d.Name)
	}
	return strings.Join(all, ", ")
}
