// SPDX-License-Identifier: Apache-2.0

// Package protocol encodes and decodes the messages between the
// spanning-tree server and the ranks of a job, and the records of the
// server's journal.
//
// A frame is a message with a type, a version and fields:
//
//	b, err := protocol.AppendFrame(nil, &protocol.JoinFrame{UniqueID: 7, Rank: 3, Total: 4})
//	_, err = conn.Write(b)
//
//	frames := &protocol.FrameReader{R: conn, Limit: protocol.MaxPayload}
//	f, err := frames.Next()
//	switch f := f.(type) {
//	case *protocol.JoinedFrame: // accepted
//	case *protocol.RefusedFrame: // f.Code and f.Reason
//	}
//
// A record is an entry of the journal ([AppendRecord], [DecodeRecord]).
//
// # One method per message
//
// Each frame and record has one method, which a coder calls to encode, to
// decode and to describe it. Encoding and decoding therefore cannot disagree.
// docs/protocol.md has the offsets of all fields; a test compares that page
// with this package. [FrameKinds] is the only table of frames. To add a
// message, add a type, its method and a row; the tests then demand a section
// of the page and a fuzz target.
//
// # Guarantees
//
//   - A decoder accepts any bytes without a panic. A decoded message is encoded
//     to the same bytes again, except for durations above 292 years.
//   - A reader allocates at most its limit, and at most a small multiple of
//     the bytes that it has received.
//   - AppendFrame reports a field above its limit instead of sending it.
//   - The numbers and layouts of a version never change. [ProtocolVersion]
//     lists the versions.
//
// # Shared types
//
// The package also has the types that both sides use: [Job], [Epoch],
// [Members], [Shard], [Progress], the policies on losses ([OnLoss]), the
// causes of refusals ([Code]), the faults of edges ([EdgeFault]), and the
// errors that the callers of a rank see. It opens no connection, and has one
// rule of jobs only: [CheckElastic], which launchers, ranks and the server
// share.
package protocol
