// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"math"
	"time"
)

// Network describes the links between hosts. A link has two directions, which do not disturb each other.
type Network struct {
	// Rate of a host's link in each direction, in bits per second. Required.
	Rate float64
	// Latency from host to host, one way. 0: none.
	Latency time.Duration
	// Headers are the bytes on the wire beyond those of a frame, as a share of them. 0: none. [EthernetHeaders] is the
	// usual value.
	Headers float64
	// RanksPerHost is the number of consecutive ranks that share a host and its link. Messages between them do not
	// use the link. 0: 1.
	RanksPerHost int
	// HostsPerRack is the number of consecutive hosts that share a rack and its uplink. 0: all hosts are in one rack.
	HostsPerRack int
	// Oversubscription is the sum of the rates of a rack's hosts over the rate of its uplink. 0: 1, an uplink that is
	// no bottleneck.
	Oversubscription float64
	// Window is the number of bytes that a connection holds between the write of the sender and the read of the
	// receiver. 0: 1 MiB.
	Window int
	// Segment is the number of bytes that a link serves at once. Less is more precise and takes longer. 0: 64 KiB.
	Segment int
}

// EthernetHeaders is the share of headers over Ethernet with packets of 1,500 bytes: 1,448 bytes of payload take 1,538
// with the headers of IP and TCP with timestamps, those of Ethernet, the preamble and the gap.
const EthernetHeaders = 1538.0/1448 - 1

// withDefaults returns n with its defaults.
func (n Network) withDefaults() Network {
	if n.RanksPerHost == 0 {
		n.RanksPerHost = 1
	}
	if n.Oversubscription == 0 {
		n.Oversubscription = 1
	}
	if n.Window == 0 {
		n.Window = 1 << 20
	}
	if n.Segment == 0 {
		n.Segment = 64 << 10
	}
	return n
}

// memoryRate is the rate of bytes between ranks of one host in ns per byte: 8 GB/s.
const memoryRate = 0.125

// link is one direction of a link. It serves one segment at a time, of its connections in turn.
type link struct {
	perByte float64 // ns per byte on the wire
	busy    bool
	waiting fifo[stop] // connections that have a segment here
}

// stop is a connection at one of the links of its path.
type stop struct{ flow, hop int32 }

// takes returns the time of n bytes on the link.
func (l *link) takes(n int32) time.Duration {
	return time.Duration(math.Ceil(float64(n) * l.perByte))
}

// segment is a piece of a part on its way.
type segment struct {
	wire int32 // bytes with headers
	last bool  // it completes a part
}

// maxHops is the length of the longest path: the links of both hosts and of both racks.
const maxHops = 4

// flow is one direction of a connection between two ranks.
type flow struct {
	from, to         int32 // ranks
	fromPeer, toPeer int32 // indices of the other end among the peers of from and of to
	hops             int32
	path             [maxHops]int32 // links
	unread           int            // bytes between the write and the join
	writing          bool           // the sender copies a part
	joining          bool           // the receiver joins a part
	sizes            fifo[int32]    // parts between the write and the join, in bytes
	arrived          int            // number of those that have arrived
	// Segments have left the sender and not arrived. done[h] of them have left link h, ready[h] more wait there.
	segments []segment
	done     [maxHops]int32
	ready    [maxHops]int32
}

// fabric is the state of all links and connections.
type fabric struct {
	agenda
	net     Network
	ranks   int
	links   []link
	flows   []flow
	carried []int64 // bytes on the wire, by link
}

// newFabric returns the links of a job. Their order is: the links of hosts, up and down in turn, the memory of hosts,
// and the links of racks, up and down in turn.
func newFabric(net Network, ranks int) *fabric {
	f := &fabric{net: net, ranks: ranks}
	hosts := (ranks + net.RanksPerHost - 1) / net.RanksPerHost
	perByte := 8e9 / net.Rate
	for range 2 * hosts {
		f.links = append(f.links, link{perByte: perByte})
	}
	for range hosts {
		f.links = append(f.links, link{perByte: memoryRate})
	}
	if net.HostsPerRack > 0 {
		racks := (hosts + net.HostsPerRack - 1) / net.HostsPerRack
		for range 2 * racks {
			f.links = append(f.links, link{perByte: perByte * net.Oversubscription / float64(net.HostsPerRack)})
		}
	}
	f.carried = make([]int64, len(f.links))
	return f
}

// route sets the path of a connection.
func (f *fabric) route(c *flow) {
	hosts := (f.ranks + f.net.RanksPerHost - 1) / f.net.RanksPerHost
	from, to := int(c.from)/f.net.RanksPerHost, int(c.to)/f.net.RanksPerHost
	add := func(link int) {
		c.path[c.hops] = int32(link)
		c.hops++
	}
	if from == to {
		add(2*hosts + from)
		return
	}
	add(2 * from)
	if per := f.net.HostsPerRack; per > 0 && from/per != to/per {
		add(3*hosts + 2*(from/per))
		add(3*hosts + 2*(to/per) + 1)
	}
	add(2*to + 1)
}

// push appends a part of n bytes to a connection, with the header of its frame.
func (f *fabric) push(id int32, n int) {
	c := &f.flows[id]
	c.sizes.push(int32(n))
	left := n + frameSize
	for left > 0 {
		some := min(left, f.net.Segment)
		left -= some
		c.segments = append(c.segments, segment{int32(math.Ceil(float64(some) * (1 + f.net.Headers))), left == 0})
		f.reach(id, 0)
	}
}

// reach adds a segment of a connection to those that wait at a link.
func (f *fabric) reach(id, hop int32) {
	c := &f.flows[id]
	l := &f.links[c.path[hop]]
	if c.ready[hop]++; c.ready[hop] == 1 {
		l.waiting.push(stop{id, hop})
		f.serve(l)
	}
}

// serve lets an idle link begin with the next segment. The head of the segment is at the next link after the latency. A
// faster link waits until it can serve the segment without a break.
func (f *fabric) serve(l *link) {
	if l.busy || l.waiting.empty() {
		return
	}
	l.busy = true
	at := l.waiting.pop()
	c := &f.flows[at.flow]
	size := c.segments[c.done[at.hop]].wire
	took := l.takes(size)
	f.carried[c.path[at.hop]] += int64(size)
	f.add(f.now+took, segmentServed, at.flow, at.hop)
	if next := at.hop + 1; next < c.hops {
		head := max(0, took-f.links[c.path[next]].takes(size))
		if at.hop == 0 {
			head += f.net.Latency
		}
		f.add(f.now+head, segmentAtLink, at.flow, next)
	}
}

// served ends the service of a segment at a link. It reports whether the segment completes a part at the receiver.
func (f *fabric) served(id, hop int32) (arrived bool) {
	c := &f.flows[id]
	l := &f.links[c.path[hop]]
	l.busy = false
	last := c.segments[c.done[hop]].last
	c.done[hop]++
	if c.ready[hop]--; c.ready[hop] > 0 {
		l.waiting.push(stop{id, hop})
	}
	if hop == c.hops-1 {
		f.forget(c)
		if last {
			c.arrived++
		}
		arrived = last
	}
	f.serve(l)
	return arrived
}

// forget removes the segments that have arrived, once they are many.
func (f *fabric) forget(c *flow) {
	n := c.done[c.hops-1]
	if int(n) < len(c.segments) && n < 64 {
		return
	}
	c.segments = append(c.segments[:0], c.segments[n:]...)
	for h := range c.hops {
		c.done[h] -= n
	}
}

// fifo is a queue that reuses its memory.
type fifo[T any] struct {
	items []T
	head  int
}

func (q *fifo[T]) empty() bool { return q.head == len(q.items) }

func (q *fifo[T]) push(x T) {
	if q.head > 16 && 2*q.head > len(q.items) {
		q.items = append(q.items[:0], q.items[q.head:]...)
		q.head = 0
	}
	q.items = append(q.items, x)
}

func (q *fifo[T]) pop() T {
	x := q.items[q.head]
	if q.head++; q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return x
}
