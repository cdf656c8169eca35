// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"fmt"
	"time"

	"github.com/gvw-project/gvw/malt/internal/carrier"
)

// SegmentConfig configures a segment. It is the same on all ranks; of the functions, all ranks have both or none.
type SegmentConfig struct {
	ObjectConfig
	// State returns a copy of the values that the program keeps for the segment, in an encoding of its own, for a rank that
	// joins a running job. A goroutine of the library calls it while the program is in a call of the library. If it fails, the
	// new rank asks again. nil: a new rank inherits only the count of updates.
	State func() ([]byte, error)
	// Restore replaces these values by the result of another rank's State. NewSegment calls it before it returns, if
	// [Group.Inherits] is true. It is nil if and only if State is.
	Restore func(state []byte) error
}

// Segment carries opaque bytes, for programs with an encoding of their own. Its methods are called by one goroutine at a
// time.
type Segment struct {
	object *object
	size   int
}

// IncomingBytes is a segment's update that has arrived. Data is valid during the call of Gather's function.
type IncomingBytes struct {
	Rank      int           // of the sender
	Iteration uint64        // the sender's count of updates
	Age       time.Duration // since it was sent, by the clocks of both machines
	Data      []byte
}

// NewSegment creates a segment whose updates have at most size bytes.
func NewSegment(g *Group, name string, size int, c SegmentConfig) (*Segment, error) {
	if size < 1 {
		return nil, fmt.Errorf("malt: %s: size: got %d, want at least 1", name, size)
	}
	if (c.State == nil) != (c.Restore == nil) {
		return nil, fmt.Errorf("malt: %s: got only one of State and Restore, want both or none", name)
	}
	elem, inherits := "bytes", false
	var values holder
	var inherited []byte
	if c.State != nil {
		elem = "bytes+state"
		values = holder{c.State, func(state []byte) error { inherited, inherits = state, true; return nil }}
	}
	o, err := g.newObject(name, fmt.Sprintf("elem=%s length=%d", elem, size), size, c.ObjectConfig, values)
	if err != nil {
		return nil, err
	}
	if inherits { // without the group's lock: Restore may call the group
		if err := c.Restore(inherited); err != nil {
			return nil, fmt.Errorf("malt: rank %d: %s: restoring the values of another rank: %w", g.cfg.Rank, name, err)
		}
	}
	return &Segment{object: o, size: size}, nil
}

// Iteration returns the number of updates that this rank has sent, or of the rank whose values it has inherited.
func (s *Segment) Iteration() uint64 { return s.object.iteration() }

// Scatter sends data, 1 byte to the segment's size, to the receivers of the round.
func (s *Segment) Scatter(ctx context.Context, data []byte) error {
	if len(data) < 1 || len(data) > s.size {
		return fmt.Errorf("malt: %s: got %d bytes, want 1 to %d", s.object.spec.Name, len(data), s.size)
	}
	return s.object.scatter(ctx, 1, func(dst []byte) (head, view []byte, err error) { return dst, data, nil })
}

// Gather calls use with each update that has arrived, by sender and oldest first, and returns their number. A sender
// that writes to this rank's memory may overwrite Data during the call; see [Segment.AtomicGather].
func (s *Segment) Gather(ctx context.Context, use func(IncomingBytes)) (n int, err error) {
	return s.gather(ctx, false, use)
}

// AtomicGather is Gather whose updates never change during the call. It copies those that senders might overwrite.
func (s *Segment) AtomicGather(ctx context.Context, use func(IncomingBytes)) (n int, err error) {
	return s.gather(ctx, true, use)
}

func (s *Segment) gather(ctx context.Context, whole bool, use func(IncomingBytes)) (n int, err error) {
	err = s.object.gather(ctx, whole, func(arrived []carrier.Arrival) {
		n = len(arrived)
		for _, a := range arrived {
			use(IncomingBytes{Rank: a.From, Iteration: a.Iteration, Age: time.Duration(time.Now().UnixNano() - a.Sent), Data: a.Data})
		}
	})
	return n, err
}

// Stats returns what this rank has sent and received.
func (s *Segment) Stats() Stats { return s.object.stats() }
