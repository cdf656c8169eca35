// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"slices"
	"time"
)

// Via is the carrier of the bytes of an edge. Its numbers are part of the protocol.
type Via uint8

// The carriers.
const (
	TCP    Via = iota
	Memory     // shared memory of one machine
	Verbs      // RDMA
	vias
)

var viaNames = [vias]string{"tcp", "shared_memory", "verbs"}

// String returns the value of the label edge of metrics.
func (v Via) String() string {
	if v >= vias {
		return "other"
	}
	return viaNames[v]
}

// Call is a kind of collective. Its numbers are part of the protocol.
type Call uint8

// The kinds of collectives.
const (
	AllReduce Call = iota
	Broadcast
	AllGather
	Barrier
	Reduce
	ReduceScatter
	Gather
	Scatter
	SendReceive
	CallKinds
)

var callNames = [CallKinds]string{"all-reduce", "broadcast", "all-gather", "barrier", "reduce", "reduce-scatter", "gather", "scatter", "send-receive"}

// String returns the value of the label collective of metrics.
func (c Call) String() string {
	if c >= CallKinds {
		return "other"
	}
	return callNames[c]
}

// Phase is a part of the time of a rank.
type Phase int

// The parts.
const (
	Loading Phase = iota // until the data are read
	Computing
	Network // in a collective, while it does not wait
	Waiting // in a collective, for ranks that are not there yet
	Phases
)

var phaseNames = [Phases]string{"load", "compute", "network", "wait"}

// String returns the value of the label phase of metrics.
func (p Phase) String() string { return phaseNames[p] }

// Bounds are the upper bounds of the buckets of Calls, in seconds. A last bucket has the rest.
var Bounds = [...]float64{1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3, 10}

// Buckets is the number of buckets.
const Buckets = len(Bounds) + 1

// Calls counts the collectives of one kind.
type Calls struct {
	Call    Call            `json:"call"`
	Count   uint64          `json:"count"`
	Took    time.Duration   `json:"took_ns"` // all together
	Bytes   uint64          `json:"bytes"`   // of the vectors of this rank
	Buckets [Buckets]uint64 `json:"buckets"` // by their time
}

// Edge counts the bytes between this rank and another one.
type Edge struct {
	Rank     int    `json:"rank"` // the other one; -1: unknown, as in a job with vw workers
	Via      Via    `json:"via"`
	Local    bool   `json:"local,omitempty"` // both ranks are on one machine
	Sent     uint64 `json:"sent"`
	Received uint64 `json:"received"`
}

// Class counts the bytes of all edges of one class.
type Class struct {
	Via      Via    `json:"via"`
	Local    bool   `json:"local,omitempty"`
	Sent     uint64 `json:"sent"`
	Received uint64 `json:"received"`
}

// Limits of Counts.
const (
	MaxEdges   = 96
	MaxClasses = 2 * int(vias)
)

// Rounds is the progress of a rank with its shared vectors, in a job without collectives.
type Rounds struct {
	Sent   uint64 `json:"sent"`   // updates that this rank has sent to each of its receivers
	Behind uint64 `json:"behind"` // age of the newest update of the slowest sender, in rounds of this rank; 0: no age
	Missed uint64 `json:"missed"` // updates that newer ones replaced before they were merged, or that were dropped
}

// Counts are the counts of a rank since it has joined. The zero value has counted nothing.
type Counts struct {
	Times   [Phases]time.Duration `json:"times_ns"`
	Calls   []Calls               `json:"calls,omitempty"`
	Classes []Class               `json:"classes,omitempty"`
	Edges   []Edge                `json:"edges,omitempty"` // at most MaxEdges, those with the most bytes
	Rounds  Rounds                `json:"rounds,omitzero"` // zero: it has no shared vectors
}

// Elapsed returns the time since the rank has joined.
func (c *Counts) Elapsed() (d time.Duration) {
	for _, t := range c.Times {
		d += t
	}
	return d
}

// Bytes returns the bytes of all edges.
func (c *Counts) Bytes() (sent, received uint64) {
	for _, k := range c.Classes {
		sent, received = sent+k.Sent, received+k.Received
	}
	return sent, received
}

// Edge returns the counts of the edges to a rank.
func (c *Counts) Edge(rank int) (sent, received uint64) {
	for _, e := range c.Edges {
		if e.Rank == rank {
			sent, received = sent+e.Sent, received+e.Received
		}
	}
	return sent, received
}

// Add adds the difference between two counts of an attempt. before is nil if now is the first one. Counts that are less than
// those before are ignored, so that sums never decrease. Kinds and carriers that this version does not know
// are ignored, and edges and rounds are not added.
func (c *Counts) Add(now, before *Counts) {
	if before == nil {
		before = &Counts{}
	}
	for i := range c.Times {
		c.Times[i] += max(0, now.Times[i]-before.Times[i])
	}
	for i := range now.Calls {
		n := &now.Calls[i]
		if n.Call >= CallKinds {
			continue
		}
		to := call(&c.Calls, n.Call)
		b := call(&[]Calls{}, n.Call)
		for j := range before.Calls {
			if before.Calls[j].Call == n.Call {
				b = &before.Calls[j]
			}
		}
		to.Count += more(n.Count, b.Count)
		to.Took += max(0, n.Took-b.Took)
		to.Bytes += more(n.Bytes, b.Bytes)
		for j := range to.Buckets {
			to.Buckets[j] += more(n.Buckets[j], b.Buckets[j])
		}
	}
	for _, n := range now.Classes {
		if n.Via >= vias {
			continue
		}
		to := class(&c.Classes, n.Via, n.Local)
		var b Class
		for _, k := range before.Classes {
			if k.Via == n.Via && k.Local == n.Local {
				b = k
			}
		}
		to.Sent += more(n.Sent, b.Sent)
		to.Received += more(n.Received, b.Received)
	}
}

// Clone returns a copy.
func (c *Counts) Clone() *Counts {
	d := *c
	d.Calls, d.Classes, d.Edges = slices.Clone(c.Calls), slices.Clone(c.Classes), slices.Clone(c.Edges)
	return &d
}

// more returns now less before, or 0.
func more(now, before uint64) uint64 { return now - min(now, before) }

// call returns the entry of a kind, which it appends if there is none.
func call(all *[]Calls, kind Call) *Calls {
	for i := range *all {
		if (*all)[i].Call == kind {
			return &(*all)[i]
		}
	}
	*all = append(*all, Calls{Call: kind})
	return &(*all)[len(*all)-1]
}

// class returns the entry of a class, which it appends if there is none.
func class(all *[]Class, via Via, local bool) *Class {
	for i := range *all {
		if k := &(*all)[i]; k.Via == via && k.Local == local {
			return k
		}
	}
	*all = append(*all, Class{Via: via, Local: local})
	return &(*all)[len(*all)-1]
}
