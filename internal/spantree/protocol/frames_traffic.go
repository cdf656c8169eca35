// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/wire"
)

// TrafficFrame (TRAFFIC) has the counts of a rank since it has joined. A server without TRAFFIC skips
// the frame.
type TrafficFrame struct {
	Counts traffic.Counts
}

// Sizes of the elements of TRAFFIC, in bytes.
const (
	callsBytes = 1 + 3*8 + 4
	edgeBytes  = 4 + 2 + 2*8
	classBytes = 2 + 2*8
)

func (f *TrafficFrame) code(c *wire.Coder) {
	n := &f.Counts
	for p := range traffic.Phases {
		c.Nanos(p.String(), &n.Times[p])
	}
	c.U64("rounds", &n.Rounds.Sent)
	c.U64("behind", &n.Rounds.Behind)
	c.U64("missed", &n.Rounds.Missed)
	wire.List(c, "calls", int(traffic.CallKinds), callsBytes, &n.Calls, func(c *wire.Coder, k *traffic.Calls) {
		c.U8("kind", (*uint8)(&k.Call))
		c.U64("count", &k.Count)
		c.Nanos("took", &k.Took)
		c.U64("bytes", &k.Bytes)
		buckets := k.Buckets[:]
		wire.List(c, "buckets", traffic.Buckets, 8, &buckets, func(c *wire.Coder, v *uint64) { c.U64("count", v) })
		copy(k.Buckets[:], buckets)
	})
	wire.List(c, "classes", traffic.MaxClasses, classBytes, &n.Classes, func(c *wire.Coder, k *traffic.Class) {
		c.U8("via", (*uint8)(&k.Via))
		c.Flag("local", &k.Local)
		c.U64("sent", &k.Sent)
		c.U64("received", &k.Received)
	})
	wire.List(c, "edges", traffic.MaxEdges, edgeBytes, &n.Edges, func(c *wire.Coder, e *traffic.Edge) {
		c.Rank("rank", &e.Rank)
		c.U8("via", (*uint8)(&e.Via))
		c.Flag("local", &e.Local)
		c.U64("sent", &e.Sent)
		c.U64("received", &e.Received)
	})
}
