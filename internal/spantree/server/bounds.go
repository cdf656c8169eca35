// SPDX-License-Identifier: Apache-2.0

package server

import (
	"log/slog"
	"net"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/internal/spantree/core"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// admits reports whether an address may connect at all.
func (s *Server) admits(host string) bool {
	return len(s.cfg.Allow) == 0 || address.In(host, s.cfg.Allow)
}

// why a connection is not taken; "": it is.
func (s *Server) rejection(from core.Endpoint) string {
	switch {
	case !s.admits(from.Host):
		return "its address is not in a network of --allow"
	case s.pending[from.Host] >= s.cfg.MaxPending:
		return "too many from this address have not said what they want"
	}
	if !s.reserve(connBytes, 0) {
		return protocol.ErrMemory.Error()
	}
	return ""
}

// room takes n bytes where as many as are spare stay free, if need be from strangers; s.mu
// is held.
func (s *Server) reserve(n, spare int64) bool {
	for !s.budget.Take(n, spare) {
		if !s.dropHandshake() {
			return false
		}
	}
	return true
}

// keep makes room for the most that a frame of so many bytes leaves behind: a member, and a
// job. At the next tick that is counted anew. The part of newcomers stays free, or theirs.
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

// dropStranger closes the connection that has been there for longest without saying
// what it wants: it is the least likely to come to something. False: there is none.
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

// turnAway closes a connection that is not taken.
func (s *Server) reject(nc net.Conn, from core.Endpoint, why string) {
	s.complain("connection closed: "+why, slog.String("from", from.Host))
	_ = nc.Close() // nothing was said
}
