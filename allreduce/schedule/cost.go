// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math"
	"math/bits"
	"strings"
	"time"
)

// Model describes an environment by a few constants, from which [Model.Predict]
// computes the time of an all-reduce.
type Model struct {
	// Name is shown in tables.
	Name string
	// Alpha is the latency of an empty message, from the write to the read at the other end.
	Alpha time.Duration
	// Overhead is the processor time of a message on each side.
	Overhead time.Duration
	// Beta is the time per byte in ns. Without Cores it is the time on the wire in one
	// direction, with Cores the processor time to move a byte from rank to rank.
	Beta float64
	// Gamma is the time to add a byte, in ns.
	Gamma float64
	// Stream is the additional processor time per byte, in ns, of a pass over the bytes of
	// a vector beyond Cache, which come from memory. It is used only with Cores.
	Stream float64
	// Cache is the number of bytes that the processor's caches hold.
	Cache int
	// Chunk is the number of bytes that are sent at once.
	Chunk int
	// Cores is the number of processors that all ranks share. 0: each rank has a host
	// of its own, and the wire is the bottleneck.
	Cores int
}

// The two environments with a model. Auto uses Network; for ranks of one host it uses
// the table of measurements instead.
var (
	// Network is a switch of 10 Gbit/s with one rank per host.
	Network = Model{
		Name: "10 Gbit/s", Alpha: 30 * time.Microsecond, Overhead: 2 * time.Microsecond,
		Beta: 0.8, Gamma: 0.125, Chunk: 64 << 10,
	}
	// OneHost is TCP within one host whose two processors all ranks share.
	OneHost = Model{
		Name: "one host", Alpha: 1200 * time.Nanosecond, Overhead: 1810 * time.Nanosecond,
		Beta: 0.177, Stream: 0.089, Cache: 1 << 20, Chunk: DefaultChunk, Cores: 2,
	}
)

// load is the cost of a schedule, in vectors and messages.
type load struct {
	hops     int     // messages in the longest chain
	fills    int     // hops during which a pipeline fills, one chunk each
	part     float64 // vectors per hop, without a pipeline
	wire     float64 // vectors through the busiest rank's wire, per direction
	adds     float64 // vectors that the busiest rank adds while others wait
	messages float64 // of all ranks
	moved    float64 // vectors from rank to rank, of all ranks
	burst    int     // messages that one rank sends at once, beyond the hops
	passes   float64 // of each rank over its vector
}

// loadOf returns the load of a schedule for size ranks and a vector of bytes bytes.
func loadOf(name Name, size, bytes int) load {
	n, places := float64(size), 1<<(bits.Len(uint(size))-1)
	levels := bits.Len(uint(size)) - 1
	p, extra := float64(places), float64(size-places)
	folded := min(1, size-places)
	switch name {
	case Doubling:
		w := float64(levels + 2*folded)
		m := p*float64(levels) + 2*extra
		return load{hops: levels + 2*folded, part: 1, wire: w, adds: float64(levels + folded), messages: m, moved: m, passes: float64(max(1, levels))}
	case Halving:
		m := 2*p*float64(levels)*float64(1+folded) + 4*extra // with a fold, each half separately
		return load{hops: 2 * (levels + folded), part: (p - 1) / p / float64(levels), wire: 2*(p-1)/p + float64(folded), adds: (p - 1) / p, messages: m, moved: 2 * (n - 1), passes: 2}
	case Ring:
		return load{hops: 2 * (size - 1), part: 1 / n, wire: 2 * (n - 1) / n, adds: 1 / n, messages: 2 * n * (n - 1), moved: 2 * (n - 1), passes: 2}
	case BinaryTree, VWTree:
		return load{hops: 2 * levels, fills: 2 * levels, part: 1, wire: treeLoad(size), messages: 2 * (n - 1), moved: 2 * (n - 1), passes: 1}
	case DoubleTree:
		depth := levels + size%2
		return load{hops: 2 * depth, fills: 2 * depth, part: 0.5, wire: min(2, treeLoad(size)/2+0.5), messages: 4 * (n - 1), moved: 2 * (n - 1), passes: 2}
	case Direct:
		owners := Spec{Size: size, Bytes: bytes}.directOwners()
		m := float64(owners)
		return load{
			hops: 2, part: (n - 1) / m, burst: 2 * (size - 2), wire: (n - 1 + m - 1) / m, adds: (n - 1) / m,
			messages: 2 * m * (n - 1), moved: 2 * (n - 1), passes: 2,
		}
	}
	panic("BUG: schedule: no cost of " + name.String())
}

// treeLoad returns the number of edges of the busiest rank of a binary tree.
func treeLoad(size int) float64 {
	switch {
	case size == 2:
		return 1
	case size < 6:
		return 2
	}
	return 3
}

// Predict returns the time that an all-reduce of s takes in m.
func (m Model) Predict(s Spec) time.Duration {
	s = s.withDefaults()
	if s.Size == 1 {
		return 0
	}
	return time.Duration(m.predict(s.Schedule, s.Size, s.Bytes))
}

// predict returns the time in ns.
func (m Model) predict(name Name, size, bytes int) float64 {
	l, n := loadOf(name, size, bytes), float64(bytes)
	alpha, o := float64(m.Alpha), float64(m.Overhead)
	if m.Cores > 0 {
		chunks := math.Max(1, n/float64(m.Chunk)/float64(size))
		work := l.messages*2*o*chunks + l.moved*n*(m.Beta+m.Gamma/2)
		work += l.passes * float64(size) * max(0, n-float64(m.Cache)) * m.Stream
		hop := l.part * n
		if l.fills > 0 {
			hop = math.Min(hop, float64(m.Chunk))
		}
		// Idle processors wait for the longest chain of hops. Where it takes as long as the
		// work, both count in part.
		return math.Hypot(work/float64(m.Cores), float64(l.hops)*(alpha+hop*m.Beta))
	}
	fill := math.Min(float64(m.Chunk), n) * 2 * m.Beta
	return float64(l.hops)*(alpha+2*o) + float64(l.burst)*2*o + float64(l.fills)*fill + l.wire*n*m.Beta + l.adds*n*m.Gamma
}

// candidates are the candidates of Auto, simple ones first.
var candidates = [...]Name{Doubling, Halving, Ring, BinaryTree, DoubleTree, Direct}

const (
	// margin is the factor by which a candidate must be faster than all earlier ones.
	margin = 0.97
	// directLoad is the number of bytes that may arrive at rank 0 at once in a direct
	// exchange; hostDirectLoad is the same limit for few ranks, where it has been measured.
	directLoad     = 128 << 10
	hostDirectLoad = 512 << 10
)

// allows reports whether Auto may choose a schedule. Direct exchange is limited to short
// vectors: all ranks send to rank 0 at once, and the model does not cover the slowdown
// beyond the capacity of sockets and caches.
func (s Spec) allows(name Name) bool {
	limit := directLoad
	if s.Size <= maxHostRanks {
		limit = hostDirectLoad
	}
	return (!s.Ordered || name.Ordered()) && (name != Direct || (s.Size-1)*s.Bytes <= limit)
}

// Pick returns the schedule that Auto stands for. It depends only on Size, Bytes and
// Ordered, not on the hosts of the ranks, because it decides the order of additions.
// It is the fastest on a network among those that, for few ranks, are also fast on
// one host.
func (s Spec) Pick() Name {
	if s.Size < 2 {
		return Doubling
	}
	good := s.goodOnHost()
	pick, least := Auto, math.Inf(1)
	for _, name := range candidates {
		if !s.allows(name) || strings.IndexByte(good, name.Letter()) < 0 {
			continue
		}
		if t := Network.predict(name, s.Size, s.Bytes); t < margin*least {
			pick, least = name, t
		}
	}
	return pick
}

// Resolve returns s with its defaults and with the schedule that Auto stands for.
func (s Spec) Resolve() Spec { return s.withDefaults() }

// Steps returns the approximate number of steps of all ranks' programs together.
func (s Spec) Steps() int {
	s = s.withDefaults()
	chunks := 1.0
	if s.Schedule == DoubleTree {
		chunks = 1 + float64(s.Bytes/s.Chunk)/2
	}
	return int(2 * chunks * loadOf(s.Schedule, max(2, s.Size), s.Bytes).messages)
}
