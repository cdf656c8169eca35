// SPDX-License-Identifier: Apache-2.0

// Package protocol holds what the spanning-tree server and the ranks of a job
// say to each other, and what the server writes to its journal.
//
// A frame is a message with a type, a version and fields ([JoinFrame],
// [StartFrame], …). A record is an entry of the journal ([FinishedRecord], …).
// Both are coded by one method each, which a coder runs in both directions, so
// encoding and decoding cannot disagree. docs/protocol.md gives the offsets of
// all fields; a test compares that page with this package.
//
// The types that both sides share are here too: [Job], [Epoch], [Shard],
// [Progress], the policy on the loss of a rank ([OnLoss]), the reasons of a
// refusal ([Code]), and the errors that a rank's caller sees.
//
// Nothing here opens a connection or knows the rules of a job. A reader
// ([FrameReader]) takes frames from any io.Reader and allocates no more than
// its limit, whatever the bytes say.
package protocol
