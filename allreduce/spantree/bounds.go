// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"log/slog"
	"net"
	"net/netip"
)

// connBytes is what a connection counts for in MaxMemory: its goroutine, its stacks,
// what the system call and the poller keep.
const connBytes = 16 << 10

// budget is the memory that clients may take. It counts; it does not allocate.
type budget struct {
	used, limit int64
}

// take takes n bytes, if there is room.
func (b *budget) take(n int64) bool {
	if b.used+n > b.limit {
		return false
	}
	b.used += n
	return true
}

func (b *budget) give(n int64) { b.used -= n }

// admits reports whether an address may connect at all.
func (s *Server) admits(host string) bool {
	return len(s.cfg.Allow) == 0 || AddressIn(host, s.cfg.Allow)
}

// AddressIn reports whether an address is in one of the networks. IPv4 in IPv6 is IPv4.
func AddressIn(host string, networks []netip.Prefix) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap().WithZone("")
	for _, n := range networks {
		if n.Contains(ip) {
			return true
		}
	}
	return false
}

// why a connection is not taken; "": it is.
func (s *Server) full(from endpoint) string {
	switch {
	case !s.admits(from.host):
		return "its address is not in a network of --allow"
	case s.pending[from.host] >= s.cfg.MaxPending:
		return "too many from this address have not said what they want"
	}
	for !s.budget.take(connBytes) {
		if !s.dropStranger() {
			return "the server's memory for clients is full"
		}
	}
	return ""
}

// dropStranger closes the connection that has been there for longest without saying
// what it wants: it is the least likely to come to something. False: there is none.
func (s *Server) dropStranger() bool {
	for len(s.strangers) > 0 {
		c := s.conns[s.strangers[0]]
		s.strangers = s.strangers[1:]
		if c == nil || c.known || c.dropped {
			continue
		}
		c.dropped = true
		s.budget.give(connBytes)
		c.abort()
		return true
	}
	return false
}

// turnAway closes a connection that is not taken.
func (s *Server) turnAway(nc net.Conn, from endpoint, why string) {
	s.complain("connection closed: "+why, slog.String("from", from.host))
	_ = nc.Close() // nothing was said
}
