// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gvw-project/gvw/malt/graph"
	"github.com/gvw-project/gvw/malt/internal/pace"
)

// ErrFull is returned by Send if a receiver's queue is full and the object's choice is Fail.
var ErrFull = errors.New("malt: the queue of a receiver is full")

// Spec describes an object. All ranks register the same objects with the same numbers.
type Spec struct {
	ID          uint32
	Name        string
	Description []byte       // what all ranks must agree on; at most MaxDescription bytes
	Size        int          // largest update, in bytes
	Graph       *graph.Graph // by position among the members
	Mode        pace.Mode
	Bound       int // of SSP
	Depth       int // updates of a receive queue
	Queue       int // updates of a send queue
	Full        Full
	Rounds      *atomic.Uint64 // updates that this rank has sent in all memberships; Send counts them. nil: none before
	Passed      *atomic.Uint64 // rounds of BSP that all ranks have sent, in all memberships, as far as this rank knows. nil: none before
}

// Stats counts the updates of an object on one rank.
type Stats struct {
	Sent        uint64 // updates given to the network, or written, one for each receiver
	Written     uint64 // of those, updates that were written into the receiver's memory
	Dropped     uint64 // updates that left a full send queue unsent
	Received    uint64 // updates that have arrived
	Overwritten uint64 // updates that newer ones replaced before they were read
	Damaged     uint64 // updates with a wrong checksum
	Merged      uint64 // updates of a vector that were handed to a Merger
	Behind      uint64 // rounds by which those were older than the receiver's own, in sum
	Oldest      uint64 // most rounds by which one was
}

// Add adds other counts.
func (s *Stats) Add(o Stats) {
	s.Sent += o.Sent
	s.Written += o.Written
	s.Dropped += o.Dropped
	s.Received += o.Received
	s.Overwritten += o.Overwritten
	s.Damaged += o.Damaged
	s.Merged += o.Merged
	s.Behind += o.Behind
	s.Oldest = max(s.Oldest, o.Oldest)
}

// object is a registered object of a carrier. All is under the carrier's lock.
type object struct {
	Spec
	pace    *pace.Pace
	in      []*receiveQueue // by position; nil: no sender
	out     []*sendQueue    // by position; nil: no receiver
	buffers pool
	sent    uint64
	written uint64
	windows []*window // that the sender has in use
	taken   []Arrival // that the reader has in use
}

func (c *Carrier) newObject(s Spec) (*object, error) {
	if s.Rounds == nil {
		s.Rounds = new(atomic.Uint64)
	}
	if s.Passed == nil {
		s.Passed = new(atomic.Uint64)
	}
	p, err := pace.New(pace.Config{Graph: s.Graph, Rank: c.self, Mode: s.Mode, Bound: s.Bound, Start: int(s.Rounds.Load())})
	if err != nil {
		return nil, err
	}
	o := &object{Spec: s, pace: p, in: make([]*receiveQueue, len(c.Members)), out: make([]*sendQueue, len(c.Members))}
	for _, from := range s.Graph.Senders(c.self) {
		o.in[from] = &receiveQueue{depth: s.Depth}
	}
	for _, to := range s.Graph.Receivers(c.self) {
		o.out[to] = &sendQueue{depth: s.Queue}
	}
	return o, nil
}

// stats returns the counts of the object.
func (o *object) stats() Stats {
	s := Stats{Sent: o.sent, Written: o.written}
	for _, q := range o.in {
		if q != nil {
			s.Add(Stats{Received: q.received, Overwritten: q.overwritten, Damaged: q.damaged})
			s.Add(q.boxed)
		}
	}
	for _, q := range o.out {
		if q != nil {
			s.Dropped += q.dropped
		}
	}
	return s
}

// mismatch returns an error if a rank's description of the object is another one.
func (o *object) mismatch(self, rank int, theirs []byte, explain func(name string, ours, theirs []byte) string) error {
	if string(o.Description) == string(theirs) {
		return nil
	}
	return fmt.Errorf("malt: object %d differs between rank %d and rank %d: %s",
		o.ID, self, rank, explain(o.Name, o.Description, theirs))
}
