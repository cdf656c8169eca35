// SPDX-License-Identifier: Apache-2.0

package server

import (
	"log/slog"
	"net"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/internal/spantree/core"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// admits reports whether connections from an address are accepted.
func (s *Server) admits(host string) bool {
	return len(s.cfg.Allow) == 0 || address.In(host, s.cfg.Allow)
}

// rejection returns the reason why a connection is rejected; "": it is accepted. The caller holds
// s.mu.
func (s *Server) rejection(from core.Endpoint) string {
	switch {
	case !s.admits(from.Host):
		return "its address is in no allowed network"
	case s.pending[from.Host] >= s.cfg.MaxPending:
		return "too many connections from this address have not registered"
	}
	if !s.reserve(connBytes, 0) {
		return protocol.ErrMemory.Error()
	}
	return ""
}

// reserve takes n bytes of memory such that at least spare bytes remain. If need be it closes
// connections that have not registered, the oldest first. The caller holds s.mu.
func (s *Server) reserve(n, spare int64) bool {
	for !s.budget.Take(n, spare) {
		if !s.dropHandshake() {
			return false
		}
	}
	return true
}

// reserveMember reserves the memory that a frame of this size may occupy when it has been
// processed: a member and a job. The next tick counts the actual use. The share of new connections
// remains free.
func (s *Server) reserveMember(frame int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := int64(frame) + protocol.MemberBytes + core.JobBytes
	if !s.reserve(n, s.budget.newcomers(s.waiting)) {
		return false
	}
	s.budget.Give(n)
	s.budget.addKept(n)
	return true
}

// dropHandshake closes the oldest connection that has not registered, which is the least likely to
// do so. It returns false if there is none.
func (s *Server) dropHandshake() bool {
	for len(s.handshaking) > 0 {
		c := s.conns[s.handshaking[0]]
		s.handshaking = s.handshaking[1:]
		if c == nil || c.registered || c.dropped {
			continue
		}
		c.dropped = true
		s.waiting--
		s.budget.Give(connBytes)
		c.abort()
		return true
	}
	return false
}

// reject closes a connection that is not accepted.
func (s *Server) reject(nc net.Conn, from core.Endpoint, why string) {
	s.complain("connection closed: "+why, slog.String("from", from.Host))
	_ = nc.Close() // nothing was sent
}
