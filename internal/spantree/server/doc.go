// SPDX-License-Identifier: Apache-2.0

// Package server is the spanning-tree server: sockets, bounds and the journal
// around the rules of package core.
//
//	s, err := server.NewServer(server.ServerConfig{StateFile: "/var/lib/gvw/state"})
//	l, err := net.Listen("tcp", ":26543")
//	err = s.Serve(ctx, l)
//
// It speaks two protocols on one port, told apart by the first 24 bytes: the
// one of vw 7 to 9, byte for byte, and a native one of frames, which
// docs/protocol.md describes. A job may have workers of both.
//
// # Goroutines
//
// Each connection has a reader and a writer. The reader hands what it read to
// the machine, under the server's lock, and never writes. The writer sends
// from a bounded queue. So a client that is silent, slow, or sends garbage
// delays no other. The journal has a writer of its own: a record that must be
// on disk before an answer holds that answer only.
//
// # Bounds
//
// No client makes the server allocate without bound. ServerConfig has the
// limits; bounds.go and budget.go hold them: connections before their first
// frame, handshakes at a time, the memory of queues, long frames and jobs.
// guard.go makes both sides prove their identity, where
// ServerConfig.Credentials asks for it (package auth).
//
// The tests in failures_test.go go through the twelve ways in which vw's own
// server fails.
package server
