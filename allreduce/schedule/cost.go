// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math"
	"math/bits"
	"strings"
	"time"
)

// Model is a place where ranks run, in numbers, to predict how long an all-reduce
// takes there.
type Model struct {
	// Name of the place.
	Name string
	// Alpha is the time from a write to the other end's read of an empty message.
	Alpha time.Duration
	// Overhead is the processor time of a message, per side.
	Overhead time.Duration
	// Beta is the time per byte, in ns: on the wire, of each direction; with Cores
	// the processor time of moving it from rank to rank.
	Beta float64
	// Gamma is the time to add a byte, in ns.
	Gamma float64
	// Stream is the processor time per byte, in ns, of a pass over a vector's bytes
	// beyond Cache: they come from memory. It counts only with Cores.
	Stream float64
	Cache  int
	// Chunk is how many bytes travel at once.
	Chunk int
	// Cores is how many processors all ranks share. 0: each rank has its own host, so
	// that the wire is what they wait for.
	Cores int
}

// The two places of predictions, with all constants of the cost model. Auto goes by the
// first; what is good on one host it knows from measuring.
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

// load is what a schedule asks of a job, in units of the vector and of messages.
type load struct {
	hops     int     // messages one after the other
	fills    int     // of them, those that carry a chunk while a pipeline fills
	part     float64 // vectors that a hop carries, without a pipeline
	wire     float64 // vectors through the busiest rank's wire, per direction
	adds     float64 // vectors that the busiest rank adds, while others wait
	messages float64 // of all ranks
	moved    float64 // vectors from rank to rank, of all ranks
	burst    int     // messages that one rank sends at once, beyond the hops
	passes   float64 // over a rank's vector
}

// loadOf is what the schedule needs for size ranks and so many bytes.
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
		m := 2*p*float64(levels)*float64(1+folded) + 4*extra // with a fold, the two halves apart
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

// treeLoad is how many edges the busiest rank of a binary tree has.
func treeLoad(size int) float64 {
	switch {
	case size == 2:
		return 1
	case size < 6:
		return 2
	}
	return 3
}

// Predict is how long an all-reduce of s takes at m.
func (m Model) Predict(s Spec) time.Duration {
	s = s.checked()
	if s.Size == 1 {
		return 0
	}
	return time.Duration(m.predict(s.Schedule, s.Size, s.Bytes))
}

// predict is the time in ns.
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
		// Processors without work wait for the longest chain of hops; where that is as
		// long as the work, some of both counts.
		return math.Hypot(work/float64(m.Cores), float64(l.hops)*(alpha+hop*m.Beta))
	}
	fill := math.Min(float64(m.Chunk), n) * 2 * m.Beta
	return float64(l.hops)*(alpha+2*o) + float64(l.burst)*2*o + float64(l.fills)*fill + l.wire*n*m.Beta + l.adds*n*m.Gamma
}

// choices are what Auto chooses from, the simple before the elaborate.
var choices = [...]Name{Doubling, Halving, Ring, BinaryTree, DoubleTree, Direct}

const (
	// margin is how much better a choice must be than one before it.
	margin = 0.97
	// directLoad is how much may come to rank 0 at once, and crowdLoad how much where it has
	// been measured, from few ranks.
	directLoad = 128 << 10
	crowdLoad  = 512 << 10
)

// may says whether Auto may choose a schedule. Direct exchange is for short vectors: all
// ranks send to rank 0 at the same time, and the model does not know how slow that is
// with more than what sockets and caches hold.
func (s Spec) may(name Name) bool {
	limit := directLoad
	if s.Size <= crowd {
		limit = crowdLoad
	}
	return (!s.Ordered || name.Ordered()) && (name != Direct || (s.Size-1)*s.Bytes <= limit)
}

// Pick is the schedule that Auto stands for. As it decides the order of additions
// it is a function of Size and Bytes (and Ordered) alone: nobody asks where
// the ranks are. It is the best on a network, with few ranks of those that are good on
// one host.
func (s Spec) Pick() Name {
	if s.Size < 2 {
		return Doubling
	}
	good := s.goodOnHost()
	pick, least := Auto, math.Inf(1)
	for _, name := range choices {
		if !s.may(name) || strings.IndexByte(good, name.Letter()) < 0 {
			continue
		}
		if t := Network.predict(name, s.Size, s.Bytes); t < margin*least {
			pick, least = name, t
		}
	}
	return pick
}

// Resolve is s with its defaults and with what Auto stands for.
func (s Spec) Resolve() Spec { return s.checked() }

// Steps is about how many steps the programs of all ranks have.
func (s Spec) Steps() int {
	s = s.checked()
	chunks := 1.0
	if s.Schedule == DoubleTree {
		chunks = 1 + float64(s.Bytes/s.Chunk)/2
	}
	return int(2 * chunks * loadOf(s.Schedule, max(2, s.Size), s.Bytes).messages)
}
