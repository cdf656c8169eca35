// SPDX-License-Identifier: Apache-2.0

// Package mailbox is the receive queue of one sender in the memory of one receiver. The
// sender writes without the receiver's help: from another process through shared memory, or from
// another machine through RDMA. There are no locks; the newest update overwrites the oldest.
//
//	w := mailbox.NewWriter(target, layout, key)   // the sender
//	err := w.Begin(len(update))
//	w.Write(update)
//	err = w.End(mailbox.Head{Round: round}, crc32c.Checksum(update))
//
//	r := mailbox.NewReader(memory, layout, key)   // the receiver
//	for _, m := range r.Updates(buf[:0]) {
//		private, ok := r.Copy(private, m)     // ok: not overwritten meanwhile
//	}
//
// The caller of a [Writer] computes the checksum, so that an update that goes to several mailboxes is
// read once. The writer reaches the memory through its [Target]: [Local] for memory of this
// machine.
//
// # Layout
//
// A mailbox has Layout.Depth slots. Update number n (from 1) is written to slot (n−1) mod
// depth. Numbers are little-endian, and slots begin at multiples of 64 bytes:
//
//	offset  size  field
//	     0     8  header: the number of the update; 0 while it is being written
//	     8     8  the sender's round (iteration)
//	    16     8  time of sending, in nanoseconds since 1970
//	    24     4  bytes of the payload, without padding
//	    28     4  key of the membership: a reader ignores updates with another key
//	    32     8  CRC-32C of the payload
//	    40    16  two numbers of the caller
//	    56     8  CRC-32C of bytes 8 to 56
//	    64        payload, padded to a multiple of 8
//	   …      8  trailer: the number of the update again
//
// # Torn updates
//
// A sender may overwrite an update while the receiver reads it. The reader takes an
// update only if header and trailer agree. A view may become torn after that, which MALT's
// plain gather allows. [Reader.Copy] copies the payload, reads the header again, and
// verifies the checksum of its copy, so that it never returns a torn update.
//
// A writer sets the header to 0, writes payload, fields and trailer, and then the header. If an
// adapter writes in another order, the checksum finds it.
//
// Source: Li, Kadav, Kruus, Ungureanu, "MALT", EuroSys 2015, section 3.2.
package mailbox
