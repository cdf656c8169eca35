// SPDX-License-Identifier: Apache-2.0

// Package transport listens and dials ([Network]). [TCP] is the operating system's
// network; package mem has one inside a process, for tests with a virtual clock and
// with faults. On Linux the package also has what the poll loop needs: sockets that never
// block ([Socket], [Poller]), and memory that processes share ([Segment], [Pipe]).
package transport
