// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
)

const (
	// spinFor is how long a rank that waits tries again and again, letting
	// others run in between, before it sleeps: longer than a small message
	// takes, so that it is met awake; short, so that waiting costs nothing.
	spinFor = 100 * time.Microsecond
	// sharedPiece is how much of a vector each rank has in the segment at once: so
	// little that it stays in a cache, so much that waiting for each other does not count.
	sharedPiece = 512 << 10
	// sharedTotal bounds the segment: with many ranks the pieces get smaller.
	sharedTotal = 64 << 20
	// sharedRanks is up to how many ranks meet in a segment.
	sharedRanks = 64
	// sharedBlock is how much is summed at once, in the innermost cache.
	sharedBlock = 16 << 10
	// sharedSmall is up to where every rank sums everything for itself: that takes less
	// time than to wait for the others once more.
	sharedSmall = 4 << 10
	// cacheLine is apart what different ranks write.
	cacheLine = 64
)

// The segment holds a place for each rank, then their pieces, two of each rank:
//
//	offset  size  of a place
//	     0     8  arrived: how many pieces the rank has brought in
//	    64     8  summed: of how many pieces the rank has summed its share
//	   128     4  asleep: 1 while the rank sleeps, or is about to
//	   132     4  bell: the word it sleeps on
//	   192   320  the headers of its last two collectives, each a length of 8 bytes
//	              and at most callMax bytes
const (
	placeSummed = cacheLine
	placeAsleep = 2 * cacheLine
	placeBell   = placeAsleep + 4
	placeCalls  = 3 * cacheLine
	callRoom    = 160
	placeSize   = 8 * cacheLine
)

// sharing is how many ranks of this process have a segment.
var sharing atomic.Int32

// shared is this rank's view of the segment in which the ranks of a job on one
// machine all-reduce. A piece goes through it in three steps: everybody copies
// it in; everybody sums a share of it, as [schedule.Spec.Sums] says; everybody copies
// the result out.
//
// The pieces alternate between two buffers. Who writes to one again has seen that
// all have arrived with the piece in between, so all are done with this one.
type shared struct {
	en     *engine
	seg    *transport.Segment
	rank   int
	piece  int // bytes of a piece, at most
	places []sharedPlace
	turn   uint64 // how many pieces this rank has brought in
	calls  uint64 // how many collectives it has begun here
	first  uint64 // the turn of the first piece of this one; under the engine's lock
	task   task
	small  []byte // the sum of a small piece, before it goes to the caller
	sum    blockSum

	mu     sync.Mutex // held by a collective, and by who gives the memory back
	closed bool
}

// sharedPlace is what a rank has in the segment.
type sharedPlace struct {
	arrived, summed *atomic.Uint64
	asleep, bell    *atomic.Uint32
	calls           [2][]byte
	buffers         [2][]byte
}

// sharedLayout is the size of a piece and of the segment for so many ranks.
func sharedLayout(ranks int) (piece, total int) {
	piece = min(sharedPiece, sharedTotal/(2*ranks)) &^ (sharedBlock - 1)
	return piece, ranks * (placeSize + 2*piece)
}

func newShared(en *engine, seg *transport.Segment, ranks int) *shared {
	piece, _ := sharedLayout(ranks)
	s := &shared{
		en: en, seg: seg, rank: en.rank, piece: piece,
		places: make([]sharedPlace, ranks), small: make([]byte, sharedSmall),
	}
	s.sum = blockSum{rank: s.rank, places: s.places}
	sharing.Add(1)
	mem := seg.Bytes()
	for r := range s.places {
		at := r * placeSize
		buffer := ranks*placeSize + 2*r*piece
		s.places[r] = sharedPlace{
			arrived: seg.Flag(at),
			summed:  seg.Flag(at + placeSummed),
			asleep:  seg.Word(at + placeAsleep),
			bell:    seg.Word(at + placeBell),
			calls:   [2][]byte{mem[at+placeCalls:][:callRoom], mem[at+placeCalls+callRoom:][:callRoom]},
			buffers: [2][]byte{mem[buffer:][:piece:piece], mem[buffer+piece:][:piece:piece]},
		}
	}
	return s
}

// close gives the memory back, once no collective uses it.
func (s *shared) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		s.seg.Close()
		sharing.Add(-1)
	}
}

// post says to the others that this rank has come further.
func (s *shared) post(flag *atomic.Uint64, n uint64) {
	flag.Store(n)
	for r := range s.places {
		// The rank has seen the flag, or says before it looks that it may sleep.
		if p := &s.places[r]; r != s.rank && p.asleep.Load() != 0 {
			p.bell.Add(1)
			transport.Wake(p.bell)
		}
	}
}

// behind is the first rank that has not come as far as n, by its flag; -1: all have.
func (s *shared) behind(from int, summed bool, n uint64) int {
	for r := from; r < len(s.places); r++ {
		p := &s.places[r]
		flag := p.arrived
		if summed {
			flag = p.summed
		}
		if flag.Load() < n {
			return r
		}
	}
	return -1
}

// await waits until all ranks have come as far as n. False: the job has failed, or ctx
// has ended.
func (s *shared) await(ctx context.Context, summed bool, n uint64) bool {
	r := s.behind(0, summed, n)
	if r < 0 {
		return true
	}
	begun := time.Now()
	for tries := 1; ; tries++ {
		if sharing.Load() > 1 {
			runtime.Gosched() // to other ranks in this process
		}
		transport.Yield()
		if r = s.behind(r, summed, n); r < 0 {
			return true
		}
		if tries%16 != 0 {
			continue
		}
		waited := time.Since(begun)
		if s.over(ctx) {
			return false
		}
		if waited > spinFor {
			s.doze(r, summed, n)
		}
		if waited > transport.DozeMax {
			s.en.driver.attend()
		}
	}
}

// doze sleeps for a while, unless rank r and those after it come as far as n.
func (s *shared) doze(r int, summed bool, n uint64) {
	me := &s.places[s.rank]
	old := me.bell.Load()
	me.asleep.Store(1) // from here on news ring, and what was before is seen below
	if s.behind(r, summed, n) >= 0 {
		transport.Doze(me.bell, old)
	}
	me.asleep.Store(0)
}

// over says that there is nothing to wait for.
func (s *shared) over(ctx context.Context) bool {
	select {
	case <-s.en.failed:
		return true
	default:
		return ctx.Err() != nil
	}
}

// share is the part of a piece of n bytes that a rank sums. Cuts fall on cache
// lines, and so between elements.
func (s *shared) share(n, rank int) (lo, hi int) {
	ranks := len(s.places)
	if rank+1 < ranks {
		hi = n / cacheLine * (rank + 1) / ranks * cacheLine
	} else {
		hi = n
	}
	return n / cacheLine * rank / ranks * cacheLine, hi
}
