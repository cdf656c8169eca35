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
// Package allreduce lifts its edges to such streams, one after the other, while they carry
// bytes: see its lift.go. The collectives on top are the same, and so are their bits.
//
// # Building
//
// The calls of libibverbs are behind the build tag rdma, on Linux with cgo. Without it System is a
// stub whose error says how to build. [Library], [Context], [Region] and [Queue] are all
// that is asked of a library; package verbstest has one in memory, over which all but
// the calls themselves is tested, under the race detector too.
//
// # A stream
//
// What is up to 4 KiB, and its header, is one SEND into memory that the other end has posted; up to the device's
// limit it travels inline. What is longer is written, by RDMA WRITE WITH IMMEDIATE, into
// the other end's window: 8 panes of 64 KiB, a message each, several of which are on
// their way while those before are added up. Both take one of the 32 places that a
// receiver has posted; what it has read it gives back by a message of credit, for
// which it has places of its own. So no receiver is ever without memory for what comes:
// RNR is a fault, not a pause.
//
// A pane is open from when the sender gets credit for it until a message has come into it: it has a
// memory window of type 2, bound to its 64 KiB for this one queue pair under the next of 256 keys,
// and invalidated after. A device without these (Limits.Windows) gives one key to the
// whole window, for as long as the stream is open.
//
// # Memory
//
// A device gets the memory of the stream itself, and what Domain.Register names; all else
// is copied through a ring. Others may write only to the open panes of a stream, never to
// memory of the program's. Domain.Close deregisters everything. Nothing is found by address in a cache, which would go stale unseen
// when memory is given back and taken again.
//
// # Errors
//
// Every request ends with a completion, and a failed one becomes an [Error] with device,
// operation and status; retries are counted, about two seconds in all. A queue pair says
// nothing when its other end is gone and nothing is sent: the TCP connection, which the
// owner of a stream keeps beside it, does. Memory that cannot be registered is a
// [RegisterError], with advice.
package verbs
