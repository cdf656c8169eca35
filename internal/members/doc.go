// SPDX-License-Identifier: Apache-2.0

// Package members has the members of an epoch as a value.
//
// A job begins with ranks 0 … total-1. After a loss it may continue without some of them
// (Shrink), and an elastic job may start without some. The ranks that take part in an epoch
// are its members, a [Set]:
//
//	live := members.Set{0, 2, 3} // rank 1 is gone
//	live.Position(3)             // 2
//	live.Rank(1)                 // 2
//
// Rank numbers are names: messages, connections and requests to the server carry them, and
// they never change. Whatever is computed from the number of members goes by positions
// 0 … len-1: trees, schedules, the segments of a vector, the order of gathered records.
// docs/protocol.md states this rule for other implementations.
package members
