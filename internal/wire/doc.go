// SPDX-License-Identifier: Apache-2.0

// Package wire codes messages: sequences of fields, little-endian, that one
// program sends to another or keeps in a file.
//
// A message has one method that visits its fields in their order. The same
// method encodes, decodes and describes the message, so that the three cannot
// disagree:
//
//	type point struct {
//		epoch uint32
//		step  uint64
//		file  string
//	}
//
//	func (p *point) code(c *wire.Coder) {
//		c.U32("epoch", &p.epoch)
//		c.U64("step", &p.step)
//		c.Text("file", 255, &p.file)
//	}
//
// A [Coder] is an appender or a cursor:
//
//	c := wire.Encode(dst)      // append the fields to dst
//	p.code(&c)
//	dst, err := c.Bytes(), c.Err()
//
//	c := wire.Decode(received) // read the fields
//	p.code(&c)
//	err := c.End()             // bytes that are left over are an error, too
//
// # Contract
//
//   - The first error sticks: later fields are skipped, and keep their values.
//     It names the field.
//   - An encoder reads the values and does not write to them, so that several
//     goroutines may encode the same message.
//   - A decoder accepts any bytes without a panic. It never reads past its
//     buffer, and never allocates more than a constant multiple of the bytes
//     that it has read: a length is compared with its limit and with the bytes
//     that are left before memory is allocated for it.
//   - Coding integers, flags, raw bytes and views allocates nothing but what
//     dst grows by. Decoded texts and lists are copies; views are not.
//
// A package whose messages have common rules wraps a Coder: in
// learn/internal/snapshot every number has 8 bytes and a limit.
//
// # Formats without a Coder
//
// Some formats have another purpose, and their own code:
//
//   - headers that precede each frame or chunk (internal/link, allreduce/verbs,
//     malt/internal/mailbox): a few words at fixed places, written once per
//     frame on the path of the data
//   - vectors (malt/internal/pack, learn/internal/modelbytes, internal/vectorio,
//     the arrays of learn/internal/snapshot): one loop over many numbers of one
//     type
//   - vw's own formats (model, feature/cache, and the hello of vw's workers):
//     their bytes are vw's, with variable-length integers and records that
//     depend on the options
//   - text and JSON
package wire
