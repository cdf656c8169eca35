// SPDX-License-Identifier: Apache-2.0

// Package poll is the driver of links over bare sockets, on Linux.
//
// The goroutine that calls a collective moves the bytes of all its links by non-blocking reads and
// writes ([Loop.Carry]). While it waits it tries again for a while, then it sleeps in one
// poll of all sockets. Between collectives a watcher notices links that end.
//
// The loop can carry a link by a shared-memory ring instead of its socket (ring_linux.go), or by a
// verbs stream beside it (verbs_linux.go). The link decides between them by package upgrade.
package poll
