// SPDX-License-Identifier: Apache-2.0

// Package carrier moves the updates of shared vectors between the ranks of one epoch, over
// links: TCP, with or without TLS, or a network in memory.
//
// A [Carrier] has the links of the epoch. An [Object] is a vector or segment as the carrier sees it:
// bytes with a round number. The carrier queues updates for receivers, keeps those that arrive
// by sender, and carries acknowledgements and barriers.
//
// # Queues
//
// A sender has a queue for each object and receiver, and a receiver one for each object and sender, both of a fixed
// depth. An update that arrives in a full queue replaces the oldest one, which the
// statistics count as overwritten. A receiver therefore never holds back a sender, and a sender's queue empties at the
// speed of the network. [Full] has the sender's choices for a full queue.
//
// An update is complete when it enters a queue, so that readers never see a torn one. Its
// checksum is verified before: a damaged update is dropped and counted.
//
// # Order on a link
//
// Updates for one receiver go in turns over its objects. Acknowledgements go between the chunks of updates. The
// messages of a barrier go when nothing else is queued, so that all updates that a rank has sent before a
// barrier have arrived when the barrier is passed.
//
// # Messages
//
// The carrier uses these frames of a link (package link), with numbers in little-endian:
//
//	call, update:    1, 7×0 │ object u32, 0 u32 │ round u64 │ iteration u64 │ time i64 │ size u64 │ CRC-32C u32, 0 u32 │ scale f64
//	call, describe:  2, 7×0 │ object u32, size u32 │ the object's description
//	data:            a chunk of the update
//	progress:        kind u32 │ object u32 │ number u64
//
// The kinds of progress frames, called notes here, are 1 acknowledgement (number is the round), 2 the sender has left the object, 3 and 4 a barrier
// towards the root of the tree and back (number counts barriers), 5 that all updates before that barrier are sent, and 6 a probe without content.
package carrier
