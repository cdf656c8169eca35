// SPDX-License-Identifier: Apache-2.0

// Package server is the spanning-tree server: sockets, limits and the journal
// around the rules of package core.
//
//	s, err := server.NewServer(server.ServerConfig{StateFile: "/var/lib/gvw/state"})
//	defer s.Close()
//	l, err := net.Listen("tcp", ":26543")
//	err = s.Serve(ctx, l)
//
// It speaks two protocols on one port, distinguished by the first 24 bytes:
// that of vw 7 to 9, byte for byte, and the native one, which
// docs/protocol.md describes. A job may have workers of both.
//
// # Goroutines
//
// Each connection has a reader, and a writer while there is something to send.
// The reader passes frames to the machine, under the server's lock, and never
// writes. The writer sends from a bounded queue. The journal has a writer of
// its own: a record that must be on disk before an answer delays that answer
// only. The reader's longer calls and the writer run on goroutines that are
// reused (stacks.go), since thousands of readers wait with small stacks. So no client and no disk can delay another client:
//
//	connection ──▶ reader ──▶ machine (one lock) ──▶ queue ──▶ writer ──▶ connection
//	                             │      ▲
//	                             ▼      │ receipts
//	                          journal writer ──▶ disk
//
// # Limits
//
// No client makes the server allocate without limit. [ServerConfig] has the
// limits; bounds.go and budget.go enforce them: connections that have not
// registered, concurrent handshakes, and the memory of queues, long frames and
// jobs. guard.go authenticates clients and server, if
// ServerConfig.Credentials requires it (package auth).
//
// # Contract
//
//   - Serve returns only after all goroutines of its connections have ended.
//   - The lock is never held during a read, a write or a sync.
//   - A client that is silent, slow or malicious costs at most its own
//     connection.
//   - FINISHED for a job with a run key follows the record on disk.
//   - A pause of the server counts as silence of no client.
//
// The tests in failures_test.go show the twelve ways in which vw's own server
// fails.
package server
