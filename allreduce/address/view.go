// SPDX-License-Identifier: Apache-2.0

package address

import (
	"fmt"
	"net"
	"net/netip"
)

// View is the known address of a rank.
type View struct {
	Rank       int
	Advertised string // host:port that it advertises
	Observed   string // the address that the server observes; "": unknown
}

// Unreachable reports whether the rank from cannot reach v at its advertised address: that is a
// loopback or unspecified address, and the server observes the two ranks on different
// machines.
func (v View) Unreachable(from View) bool {
	ip, ok := v.advertisedIP()
	return ok && (ip.IsLoopback() || ip.IsUnspecified()) && v.Observed != "" && from.Observed != "" && v.Observed != from.Observed
}

func (v View) advertisedIP() (netip.Addr, bool) {
	host, _, err := net.SplitHostPort(v.Advertised)
	if err != nil {
		return netip.Addr{}, false
	}
	ip, err := netip.ParseAddr(host)
	return ip.Unmap(), err == nil
}

func loopback(s string) bool {
	ip, err := netip.ParseAddr(s)
	return err == nil && ip.Unmap().IsLoopback()
}

// Advice describes, for a rank v that the rank from has not reached, its known addresses
// and a remedy.
func (v View) Advice(from View) string {
	text := fmt.Sprintf("rank %d advertises %s", v.Rank, v.Advertised)
	if v.Observed == "" {
		return text
	}
	seen := fmt.Sprintf("the server observes it at %s, and rank %d at %s", v.Observed, from.Rank, from.Observed)
	better := fmt.Sprintf("advertise %s (allreduce.Config.Advertise), or nothing at all", v.Observed)
	if loopback(v.Observed) {
		seen = fmt.Sprintf("it runs on the server's own machine, and rank %d at %s", from.Rank, from.Observed)
		better = "advertise an address of that machine that the others can reach (allreduce.Config.Advertise)"
	}
	ip, isIP := v.advertisedIP()
	switch {
	case v.Unreachable(from):
		return fmt.Sprintf("%s, which each machine resolves to itself; %s: %s", text, seen, better)
	case isIP && ip.String() != v.Observed && !loopback(v.Observed):
		return fmt.Sprintf("%s; %s: check that rank %d can reach that interface, or %s", text, seen, from.Rank, better)
	case isIP && ip.String() != v.Observed:
		return fmt.Sprintf("%s; %s: check that rank %d can reach that address, and that no firewall blocks it", text, seen, from.Rank)
	case !isIP:
		return fmt.Sprintf("%s, a name; %s: check that rank %d resolves the name to that address, or %s", text, seen, from.Rank, better)
	}
	return fmt.Sprintf("%s; %s: check that no firewall blocks rank %d (allreduce.Config.Listen selects the ports)", text, seen, from.Rank)
}
