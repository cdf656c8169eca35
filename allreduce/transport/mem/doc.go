// SPDX-License-Identifier: Apache-2.0

// Package mem is a network inside one process. Whole jobs run on it in a
// testing/synctest bubble. All waits are on channels, and deadlines follow
// the bubble's clock, so that a test of a 60 s deadline takes no time and is
// reproducible.
//
//	n := mem.New()
//	l, err := n.Host("h0").Listen(ctx, ":26543")
//	c, err := n.Host("h1").Dial(ctx, "h0:26543")
//
// A host is only a name. [Network.Cut] breaks all connections of a host, [Network.Reset]
// those between two hosts. [Network.Kill] also makes the host unreachable for good, as when
// its process is killed. [Network.Hold] stops the bytes of a host, as when its process is
// stopped or a switch fails, and [Network.Part] those between two hosts.
//
// Connections carry bytes as TCP does. A write returns as soon as the bytes fit into the
// connection's buffer, the reader gets them in order and in pieces of any size, and
// the end of the stream follows the bytes in transit.
package mem
