// SPDX-License-Identifier: Apache-2.0

// Package mem is a network inside one process. Whole jobs run on it in a
// testing/synctest bubble: every wait is on a channel, and deadlines follow
// the bubble's clock, so that a test of a 60 s deadline takes no time and comes
// out the same each time.
//
//	n := mem.New()
//	l, err := n.Host("h0").Listen(ctx, ":26543")
//	c, err := n.Host("h1").Dial(ctx, "h0:26543")
//
// A host is only a name. Its faults are [Network.Cut] (every connection of
// the host breaks), [Network.Reset] (those to one other host do), [Network.Kill] (and it never comes back, as when its process is
// killed), [Network.Hold] (its bytes stop moving, as when its process is
// stopped or a switch fails) and [Network.Part] (those to one other host do).
//
// Connections carry bytes as TCP does: a write returns as soon as the bytes
// fit into the connection's buffer, the reader sees them in order and in pieces of
// any size, and a closed end is the end of the stream after the bytes under way.
package mem
