// SPDX-License-Identifier: Apache-2.0

// Package samehost lets a rank write its updates into the memory of another rank of the same machine.
// It implements carrier.Memory by segments of package shm:
//
//	m := samehost.New(samehost.System)
//	hello, err := m.Hello()                         // goes to the other rank
//	err = m.Meet(theirs)                            // an error: it is on another machine
//	inbox, offer, err := m.Make(size)               // the receiver; offer goes to the sender
//	outbox, err := m.Open(size, slot, queue, offer) // the sender
//
// Hello is a hash of the machine's identity. It also proves that the kernel lets both processes share
// memory only in part: Open fails where, for example, the ranks have different PID namespaces.
//
// A segment belongs to one sender, one receiver and one epoch. It is memory without a name, which the
// receiver unmaps when the epoch ends, so that a late write of a lost rank reaches no reader. Its pages are
// allocated when an update first needs them: a mailbox for large updates that receives small ones
// uses little memory.
package samehost
