// SPDX-License-Identifier: Apache-2.0

package address

import (
	"fmt"
	"net"
	"net/netip"
)

// View is what is known of where a rank is.
type View struct {
	Rank int
	Told string // host:port that the others are told
	Seen string // the address from which the server sees the rank; "": not known
}

// Astray says that v cannot be where others are told: that is an address by which
// every machine finds itself, and the server sees the rank from and v on different
// machines.
func (v View) Astray(from View) bool {
	ip, ok := v.toldIP()
	return ok && (ip.IsLoopback() || ip.IsUnspecified()) && v.Seen != "" && from.Seen != "" && v.Seen != from.Seen
}

func (v View) toldIP() (netip.Addr, bool) {
	host, _, err := net.SplitHostPort(v.Told)
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

// Advice says, of a rank that the rank from has not reached: what is known of where
// it is, and what to do.
func (v View) Advice(from View) string {
	text := fmt.Sprintf("others are told to reach rank %d at %s", v.Rank, v.Told)
	if v.Seen == "" {
		return text
	}
	seen := fmt.Sprintf("the server sees it at %s, and rank %d at %s", v.Seen, from.Rank, from.Seen)
	better := fmt.Sprintf("let it advertise %s (--advertise), or nothing at all", v.Seen)
	if loopback(v.Seen) {
		seen = fmt.Sprintf("it runs on the server's own machine, and rank %d at %s", from.Rank, from.Seen)
		better = "let it advertise an address of that machine that the others know (--advertise)"
	}
	ip, isIP := v.toldIP()
	switch {
	case v.Astray(from):
		return fmt.Sprintf("%s, where every machine finds itself; %s: %s", text, seen, better)
	case isIP && ip.String() != v.Seen && !loopback(v.Seen):
		return fmt.Sprintf("%s; %s. Is that an interface that rank %d can reach? Else %s", text, seen, from.Rank, better)
	case isIP && ip.String() != v.Seen:
		return fmt.Sprintf("%s; %s. Is that an address of that machine that rank %d can reach, and does a firewall let it in?", text, seen, from.Rank)
	case !isIP:
		return fmt.Sprintf("%s, a name; %s. Does rank %d know the name for that address? Else %s", text, seen, from.Rank, better)
	}
	return fmt.Sprintf("%s; %s. Does a firewall let rank %d in? --port_range keeps to the ports that it opens", text, seen, from.Rank)
}
