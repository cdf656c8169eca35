// SPDX-License-Identifier: Apache-2.0

// Package mailbox is the receive queue of one sender in the memory of one receiver. The
// sender writes without the receiver's help: from another process through shared memory, or from
// another machine through RDMA. There are no locks; the newest update overwrites the oldest.
//
//	w := mailbox.NewWriter(memory, layout, key)   // the sender
//	b := w.Reserve()
//	n := copy(b, update)
//	w.Publish(n, round, time.Now().UnixNano())
//
//	r := mailbox.NewReader(memory, layout, key)   // the receiver
//	for _, m := range r.Updates(buf[:0]) {
//		private, ok := r.Copy(private, m)     // ok: not overwritten meanwhile
//	}
//
// # Layout
//
// A mailbox has Layout.Depth slots. Update number n (from 1) is written to slot (n−1) mod
// depth. Numbers are little-endian, and slots begin at multiples of 64 bytes:
//
//	 0         8        16       24      28     32         40      64
//	┌─────────┬────────┬────────┬───────┬──────┬──────────┬───────┬─────────┬─────────┐
//	│ header  │ round  │ time   │ size  │ key  │ checksum │ 0     │ payload │ trailer │
//	└─────────┴────────┴────────┴───────┴──────┴──────────┴───────┴─────────┴─────────┘
//	header    the number of the update; 0 while it is being written
//	round     the sender's round (iteration)
//	time      of sending, in nanoseconds since 1970
//	size      bytes of the payload, without padding
//	key       of the membership: a reader ignores updates with another key
//	checksum  CRC-32C of bytes 8 to 32 and the payload
//	trailer   the number of the update again, behind the payload padded to a multiple of 8
//
// # Torn updates
//
// A sender may overwrite an update while the receiver reads it. The reader takes an
// update only if header and trailer agree. A view may become torn after that, which MALT's
// plain gather allows. [Reader.Copy] reads header, trailer, payload and header again, and
// verifies the checksum of its copy, so that it never returns a torn update.
//
// A writer in shared memory sets the header to 0, writes the payload, the trailer and
// then the header. An RDMA write of [Writer.Image] arrives with ascending addresses, that is
// header first and trailer last; if an adapter does otherwise, the checksum finds it.
//
// Source: Li, Kadav, Kruus, Ungureanu, "MALT", EuroSys 2015, section 3.2.
package mailbox
