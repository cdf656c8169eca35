// SPDX-License-Identifier: Apache-2.0

// Package carrier moves the updates of shared vectors between the ranks of one epoch: over links, which are
// TCP, with or without TLS, or a network in memory; or by writes into the memory of the receiver.
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
// # Writes into memory
//
// A [Memory] is a way to write into the memory of one other rank. Where both ranks have it, the receiver makes a
// mailbox (package mailbox) for each object and sender, and the sender writes into it without the receiver's
// help. All else, such as acknowledgements and barriers, stays on the link.
//
//	sender              receiver
//	  | <--- hello ---> |          once an epoch; both then call Meet
//	  | <--- offer ---- |          once an object; the sender calls Open
//	  | ---- switch --> |          from now on updates are written; or refuse: they stay on the link
//	  | ---- written -> |          each round, except with ASP: no rank waits for its updates
//
// An epoch has mailboxes of its own, so that late writes of lost ranks are not read.
//
// The reader verifies the checksum of an update where it is, and uses it there. The sender may
// overwrite it meanwhile. With whole set, [Carrier.Receive] copies and verifies the copy, and looks again if the sender
// has overwritten the update.
//
// # Order on a link
//
// Updates for one receiver go in turns over its objects. Acknowledgements go between the chunks of updates. The
// message that all updates before a barrier are sent goes when nothing else is queued, so that these updates
// have arrived when the barrier is passed.
//
// # Messages
//
// The carrier uses these frames of a link (package link), with numbers in little-endian:
//
//	call, update:    1, 7×0 │ object u32, 0 u32 │ round u64 │ iteration u64 │ time i64 │ size u64 │ CRC-32C u32, 0 u32 │ scale f64
//	call, describe:  2, 7×0 │ object u32, size u32 │ the object's description
//	call, hello:     3, 7×0 │ size u64 │ Memory.Hello
//	call, offer:     4, 7×0 │ object u32, key u32 │ depth u64 │ payload u64 │ size u64 │ the offer of Memory.Make
//	data:            a chunk of the update
//	progress:        kind u32 │ object u32 │ number u64
//
// The kinds of progress frames, called notes here, are 1 acknowledgement (number is the round), 2 the sender has left
// the object, 3 and 4 a barrier towards the root of the tree and back (number counts barriers), 5 that all updates
// before that barrier are sent, 6 a probe without content, 7 switch, 8 refuse, and 9 written (number is the round).
// The barriers of notes 3 to 5 are the rounds of the object, or with object 2^32-1 the calls of Barrier. Rounds and calls
// are counted over all memberships.
package carrier
