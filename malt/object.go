// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/malt/graph"
	"github.com/gvw-project/gvw/malt/internal/carrier"
	"github.com/gvw-project/gvw/malt/internal/pace"
)

// Full is what Scatter does when the send queue of a receiver is full.
type Full = carrier.Full

// The choices of Full.
const (
	DropOldest = carrier.DropOldest // drop the oldest queued update
	Block      = carrier.Block      // wait until there is room
	Fail       = carrier.Fail       // return ErrFull
)

// ErrFull is returned by Scatter with Fail.
var ErrFull = carrier.ErrFull

// Stats counts the updates of a vector on one rank, since it was created.
type Stats = carrier.Stats

const (
	defaultDepth = 4
	defaultQueue = 2
	maxName      = 40
)

// ObjectConfig is common to vectors and segments. It is the same on all ranks.
type ObjectConfig struct {
	Graph  string       // a name of package graph; "": "all"
	Custom *graph.Graph // a graph of all ranks of the job, instead of Graph; nil: none
	Sync   string       // "asp", "bsp", "ssp:S" or "notify_ack"; "": "asp"
	Depth  int          // updates of each receive queue; 0: 4. bsp needs 2
	Queue  int          // updates of each send queue; 0: 2
	Full   Full         // for a full send queue; the zero value drops the oldest update
}

// object is a vector or segment, independent of memberships.
type object struct {
	g     *Group
	spec  carrier.Spec // without a graph
	graph *graph.Graph // of all ranks of the job
	holder
	past carrier.Stats // of earlier memberships; under the group's lock
}

// holder copies and replaces the values of an object. Both functions are nil if it has none.
type holder struct {
	state   func() ([]byte, error)   // returns a copy, for a new rank
	restore func(state []byte) error // replaces them by those of another rank
}

// newObject validates a configuration, and registers the object with the current membership.
func (g *Group) newObject(name, shape string, size int, c ObjectConfig, values holder) (*object, error) {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("malt: %s: "+format, append([]any{name}, args...)...))
	}
	if name == "" || len(name) > maxName || strings.ContainsAny(name, " =\n") {
		fault("got the name %q, want 1 to %d bytes without blanks and =", name, maxName)
	}
	if c.Graph == "" {
		c.Graph = "all"
	}
	whole := c.Custom
	var err error
	if whole == nil {
		if whole, err = graph.New(c.Graph, g.cfg.Total); err != nil {
			fault("%w", err)
		}
	} else if whole.Size() != g.cfg.Total {
		fault("the graph has %d ranks, the job has %d", whole.Size(), g.cfg.Total)
	}
	if c.Sync == "" {
		c.Sync = pace.ASP.String()
	}
	mode, bound, err := pace.ParseMode(c.Sync)
	if err != nil {
		fault("%w", err)
	}
	if c.Depth == 0 {
		c.Depth = defaultDepth
	}
	if c.Queue == 0 {
		c.Queue = defaultQueue
	}
	if c.Depth < 1 || mode == pace.BSP && c.Depth < 2 {
		fault("Depth: got %d, want at least 1, with bsp 2", c.Depth)
	}
	if c.Queue < 1 || c.Full > Fail {
		fault("Queue: got %d updates and choice %d, want at least 1 and DropOldest, Block or Fail", c.Queue, c.Full)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	if mode != pace.ASP {
		c.Full = Block // a round that is dropped would be waited for
	}
	digest := whole.Digest()
	o := &object{g: g, graph: whole, holder: values, spec: carrier.Spec{
		Name: name, Size: size, Mode: mode, Bound: bound, Depth: c.Depth, Queue: c.Queue, Full: c.Full,
		Description: fmt.Appendf(nil, "name=%s %s graph=%x sync=%s", name, shape, digest[:6], c.Sync),
	}}
	differs, err := g.add(o)
	if differs != nil {
		g.failJob(differs)
		err = differs
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// add adds an object to the group, and registers it with the current membership. With differs another rank has another
// object of this number, which ends the job.
func (g *Group) add(o *object) (differs, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return nil, g.err
	}
	o.spec.ID, o.spec.Rounds, o.spec.Passed = uint32(len(g.objects)), new(atomic.Uint64), new(atomic.Uint64)
	if err := o.inherit(); err != nil {
		return nil, err
	}
	if g.carrier != nil {
		if err := g.carrier.Register(o.among(g.live)); err != nil {
			return err, nil
		}
	}
	g.objects = append(g.objects, o)
	return nil, nil
}

// among returns the object's description for some members.
func (o *object) among(live members.Set) carrier.Spec {
	var lost []int
	for rank := range o.g.cfg.Total {
		if live.Position(rank) < 0 {
			lost = append(lost, rank)
		}
	}
	s := o.spec
	s.Graph = o.graph
	if len(lost) > 0 {
		s.Graph = o.graph.Without(lost...)
	}
	return s
}

// explain names the first field in which two descriptions differ.
func explain(object string, ours, theirs []byte) string {
	const advice = "create the same objects in the same order on all ranks"
	a, b := strings.Fields(string(ours)), strings.Fields(string(theirs))
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		name, value, _ := strings.Cut(a[i], "=")
		other := strings.TrimPrefix(b[i], name+"=")
		if object == sameFiles && name == filesDigest {
			return "they have different data, by the names or sizes of the files: give all ranks the same files"
		}
		return fmt.Sprintf("%s is %s and %s: %s", name, value, other, advice)
	}
	return fmt.Sprintf("%q and %q: %s", ours, theirs, advice)
}

// scatter sends an update that fill makes.
func (o *object) scatter(ctx context.Context, scale float64, fill carrier.Fill) error {
	o.g.custody.release()
	defer o.g.custody.regain()
	return o.send(ctx, carrier.Head{Scale: scale}, fill)
}

// send sends an update in this membership, or in the next one if it ends meanwhile.
func (o *object) send(ctx context.Context, h carrier.Head, fill carrier.Fill) error {
	var last *carrier.Carrier
	for {
		c, err := o.g.current(ctx, last)
		if err != nil {
			return err
		}
		h.Sent = time.Now().UnixNano()
		if err = c.Send(ctx, o.spec.ID, h, fill); !errors.Is(err, carrier.ErrOver) {
			return err
		}
		last = c
	}
}

// gather calls use with the updates to merge. If the membership ends meanwhile there are none.
// With whole they are copies, where the senders might overwrite them.
func (o *object) gather(ctx context.Context, whole bool, use func([]carrier.Arrival)) error {
	o.g.custody.release()
	defer o.g.custody.regain()
	c, err := o.g.current(ctx, nil)
	if err != nil {
		return err
	}
	err = c.Receive(ctx, o.spec.ID, whole, func(arrived []carrier.Arrival) {
		o.g.custody.regain() // the values change
		defer o.g.custody.release()
		use(arrived)
	})
	switch {
	case errors.Is(err, carrier.ErrOver):
		return o.g.failure()
	case err == nil:
		o.g.progress.reach(stepMerged)
	}
	return err
}

// settle waits until all ranks have sent as many rounds as this one, also if the membership ends meanwhile. The object's
// synchrony is "bsp".
func (o *object) settle(ctx context.Context) error {
	o.g.custody.release()
	defer o.g.custody.regain()
	for last := (*carrier.Carrier)(nil); ; {
		c, err := o.g.current(ctx, last)
		if err != nil {
			return err
		}
		if err = c.Settle(ctx, o.spec.ID); !errors.Is(err, carrier.ErrOver) {
			return err
		}
		last = c
	}
}

// iteration returns the number of updates that this rank has sent, in all memberships.
func (o *object) iteration() uint64 { return o.spec.Rounds.Load() }

// stats returns the counts over all memberships.
func (o *object) stats() Stats {
	o.g.mu.Lock()
	defer o.g.mu.Unlock()
	s := o.past
	if o.g.carrier != nil {
		s.Add(o.g.carrier.Stats(o.spec.ID))
	}
	return s
}
