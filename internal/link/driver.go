// SPDX-License-Identifier: Apache-2.0

package link

import (
	"context"
	"time"
)

// FlushWithin limits how long a rank that gives up tries to send its last frames.
const FlushWithin = time.Second

// Driver moves the bytes of all links of a Set, also between two pieces of work: then it
// notices links that end.
//
// Link.Compose returns the bytes to write, and Link.Space the memory to read to. The driver reports
// progress by Link.Wrote and Link.Filled.
type Driver interface {
	// Attach takes over a link that has just opened, and returns the driver's handle of it. It is
	// called under the set's lock.
	Attach(l *Link) (Handle, error)
	// Carry does the caller's share of the work that has begun, which goes over links. It returns
	// after it has received from done, when the set has failed, or when ctx has ended. A goroutine
	// that sends on done, or closes it, calls Wake afterwards.
	Carry(ctx context.Context, done <-chan struct{}, links []*Link)
	// Wake lets Carry look at done and at the set again. It may be called under the set's lock.
	Wake()
	// FlushErrors writes the last frames of all links in parallel, and ends the writing. It takes
	// FlushWithin at most.
	FlushErrors()
	// Stop ends the links. After Wait the driver touches no memory of the caller.
	Stop()
	Wait()
	// Cut ends all links as if each peer had ended them. It injects a fault.
	Cut()
	// Attend watches the links during work that takes long and uses none of them.
	Attend()
	// Upgrades reports whether the driver can carry links over verbs streams.
	Upgrades() bool
}

// Handle is a driver's side of one link.
type Handle interface {
	// Wake reports that there may be something new to write, or room for what arrives. It is
	// called under the set's lock.
	Wake()
	// Ring returns the carrier that upgrades the link to a shared-memory ring, or nil if the
	// driver keeps to connections.
	Ring() Carrier
}

// Carrier is a shared-memory ring that replaces the connection of a link. Its methods are called
// under the set's lock.
type Carrier interface {
	// Offer makes the ring, and returns the payload by which the peer finds it.
	Offer() ([]byte, error)
	// Accept opens the ring of the peer's offer.
	Accept(offer []byte) error
	// SwitchOut sends all further bytes through the ring.
	SwitchOut()
	// SwitchIn reads all further bytes from the ring.
	SwitchIn()
}

// Stream is a verbs stream beside a link's connection. None of its methods waits.
type Stream interface {
	Offer() []byte
	Accept(theirs []byte) error
	Read(b []byte) (int, error)
	Write(head, data []byte) (int, error)
	Arm(read, write bool) bool
	FD() int
	Silence()
	Flushed() bool
	Break() error
	Close() error
}

// Verbs are the streams to which all links of a set are upgraded.
type Verbs struct {
	Open     func() (Stream, error) // makes one
	Required bool                   // a link without a stream is a failure
}
