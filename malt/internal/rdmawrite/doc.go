// SPDX-License-Identifier: Apache-2.0

// Package rdmawrite lets a rank write its updates into the memory of a rank on another machine, by one-sided
// RDMA writes. It implements carrier.Memory over the queue pairs of package verbs:
//
//	d, err := rdmawrite.Open(verbs.System(), place) // once an epoch
//	m := d.Memory()                                 // for one rank
//	hello, err := m.Hello()                         // the queue pair; goes to the other rank
//	err = m.Meet(theirs, arrived)                   // connects it
//	inbox, offer, err := m.Make(size)               // the receiver registers memory; offer has address and key
//	outbox, err := m.Open(size, slot, queue, offer) // the sender registers queue buffers of its own
//	m.Stop()
//	err = d.Close()
//
// The receiver's processor takes no part in a write. The sender copies an update to registered memory of its own, and
// posts three kinds of writes, which arrive in this order: the header is set to 0, then everything behind the
// header, cut where the device limits messages, and then the header. When the last one is acknowledged, the update
// has arrived, and its memory serves another update.
//
// # Keys
//
// Each epoch registers its own memory, with keys that the device chooses. Stop closes the queue pair and
// deregisters everything: later writes of a lost rank fail at the device. The readers of this rank may
// still read until they close their inboxes.
//
// # Limits
//
// Registered memory cannot be swapped out: a mailbox takes memory for Depth of the largest possible updates at its receiver,
// and for Queue of them at its sender. If the device or a limit (ulimit -l, or Device.Limit for receivers) refuses
// either, updates of the object go over the link.
//
// Each update on its way needs a buffer of the outbox. A sender that is faster than the network finds no room: see
// Outbox.Room.
package rdmawrite
