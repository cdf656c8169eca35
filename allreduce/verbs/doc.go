// SPDX-License-Identifier: Apache-2.0

// Package verbs carries the bytes between two ranks over RDMA: reliable connected queue pairs
// of libibverbs, on InfiniBand and RoCE.
//
//	devices, err := verbs.System().Devices()
//	place, err := verbs.Choose(devices, verbs.Auto, address)
//	domain, err := verbs.NewDomain(verbs.System(), place)
//	stream, err := domain.NewStream()
//	theirs := …                     // stream.Offer() goes there, theirs comes here, over TCP
//	err = stream.Accept(theirs)     // then the other end may write
//	n, err := stream.Write(head, data)
//	n, err := stream.Read(buffer)
//
// Package allreduce upgrades its links to such streams one at a time, while they carry
// bytes. The collectives above are the same, and so are the bits of their results.
//
// # Building
//
// The calls of libibverbs need the build tag rdma, on Linux with cgo. Without it System is a
// stub whose error describes how to build. [Library], [Context], [Region] and [Queue] are the
// whole interface to a library. Package verbstest implements it in memory; with that all
// code except the calls themselves is tested, also under the race detector.
//
// # A stream
//
// A message of up to 4 KiB, with its header, is one SEND into memory that the other end has
// posted; up to the device's limit it travels inline. A longer message is written, by RDMA
// WRITE WITH IMMEDIATE, into the other end's window: 8 slots of 64 KiB, one message each.
// Several messages can be in transit while earlier ones are summed. Both kinds use
// one of the 32 receives that a receiver has posted. The receiver returns them by credit
// messages, for which it has posted further receives. A receiver therefore always has
// memory for incoming messages: RNR (receiver not ready) is an error, not a pause.
//
// A slot is writable from the time when the sender gets credit for it until a message has
// arrived in it. It has a memory window of type 2, which is bound to its 64 KiB for this one queue
// pair under the next of 256 keys, and invalidated afterwards. On a device without such
// windows (Limits.Windows) one key for the whole window is valid as long as the stream is open.
//
// # Memory
//
// A device can access the memory of the stream itself and the memory passed to
// Domain.Register. All other data is copied through a ring. The other end can write only to
// writable slots of a stream, never to memory of the program. Domain.Close deregisters
// everything. There is no cache of registrations by address, which would become stale
// when memory is freed and allocated again.
//
// # Errors
//
// Every request ends with a completion. A failed one becomes an [Error] with device,
// operation and status. Retries are limited to about two seconds in all. A queue pair does
// not detect the loss of its other end while nothing is sent. The TCP connection, which the
// owner of a stream keeps open, does. A failure to register memory is a
// [RegisterError], with advice.
package verbs
