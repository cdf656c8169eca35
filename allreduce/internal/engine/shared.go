// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gvw-project/gvw/allreduce/transport"
)

const (
	// spinFor is how long a rank that waits tries again and again, letting
	// others run in between, before it sleeps: longer than a small message
	// takes, so that it is met awake; short, so that waiting costs nothing.
	spinFor = 100 * time.Microsecond
	// SharedPiece is how much of a vector goes through the segment at once: so little that
	// all pieces on their way stay in a cache, so much that waiting does not count.
	SharedPiece = 64 << 10
	// SharedDepth is how many pieces of each rank may be on their way: that far ranks
	// run ahead of each other before one waits.
	SharedDepth = 4
	// SharedRanks is up to how many ranks meet in a segment.
	SharedRanks = 64
	// SharedBlock is how much is summed at once, in the innermost cache.
	SharedBlock = 8 << 10
	// SharedSmall is up to where every rank sums everything for itself: that takes less
	// time than to wait for the others once more.
	SharedSmall = 4 << 10
	// SharedArena is how much memory Alloc can give to all ranks of a job together. It is
	// a matter of addresses: there is memory behind what is used alone.
	SharedArena = 256 << 30
	// cacheLine is apart what different ranks write.
	cacheLine = 64
)

// The segment holds a place for each rank, then SharedDepth buffers of each rank, for a
// piece each:
//
//	offset  size  of a place
//	     0     8  arrived: how many pieces the rank has brought in
//	    64     8  summed: of how many pieces the rank has summed its share
//	   128     8  taken: of how many pieces the rank has the result
//	   192     4  asleep: 1 while the rank sleeps, or is about to
//	   196     4  bell: the word it sleeps on
//	   200     8  beats: a sign of life of a rank that is busy with other machines
//	   256   320  its last two collectives, of 160 bytes each: the length of the header,
//	              where its contribution and where its result lie in the arena, 1 more
//	              than the offset or 0, each of 8 bytes; then the header
//
// In the arena each rank has a part of its own.
const (
	placeAsleep = 3 * cacheLine
	placeBell   = placeAsleep + 4
	placeBeats  = placeAsleep + 8
	placeCalls  = 4 * cacheLine
	CallRoom    = 160
	callSrc     = 8
	CallDst     = 16
	callWire    = 24
	placeSize   = 9 * cacheLine
)

// step is how far a rank has come with a piece.
type step int

const (
	arrived step = iota
	summed
	taken
	stepKinds
)

// sharing is how many ranks of this process have a segment.
var sharing atomic.Int32

// Shared is this rank's view of the segment in which the ranks of a job on one
// machine all-reduce. A piece goes through it in three steps: everybody copies
// it in; everybody sums a share of it, as [schedule.Spec.Sums] says; everybody copies
// the result out. Who has its vector in the arena copies nothing: others find it there,
// and leave the result there.
//
// Ranks are numbered by their places here: the first one leads, where there are other
// machines.
type Shared struct {
	en     *Engine
	seg    *transport.Segment
	Ranks  []int // in the job, rising
	self   int
	piece  int // bytes of a piece, at most
	places []sharedPlace
	Arena  []byte
	turn   uint64            // how many pieces this rank has taken
	known  [stepKinds]uint64 // so far all ranks have come, as far as is known
	calls  uint64            // how many collectives it has begun here
	Done   atomic.Uint64     // how many of them it has ended
	first  uint64            // the turn of the first piece of this one; under the engine's lock
	task   Task
	homes  []home // by rank, where its vectors are
	summer summer
	from   []unsafe.Pointer
	to     []unsafe.Pointer

	mu     sync.Mutex // held by a collective, and by who gives the memory back
	closed bool
	Given  int // bytes of this rank's part of the arena that are in use
}

// home is where a rank has its vectors; nil: not in the arena.
type home struct{ src, dst unsafe.Pointer }

// sharedPlace is what a rank has in the segment.
type sharedPlace struct {
	steps        [stepKinds]*atomic.Uint64
	asleep, bell *atomic.Uint32
	beats        *atomic.Uint64
	calls        [2][]byte
	buffers      [SharedDepth][]byte
}

// SharedLayout is the size of a piece and of the segment for so many ranks. With more
// of them pieces get larger, so that the shares do not get too small.
func SharedLayout(ranks int) (piece, total int) {
	piece = SharedPiece
	if ranks > 8 {
		piece *= 2
	}
	return piece, ranks * (placeSize + SharedDepth*piece)
}

// NewShared returns the all-reduce of the ranks in group, which have seg in common.
func NewShared(en *Engine, seg *transport.Segment, group []int) *Shared {
	ranks := len(group)
	piece, _ := SharedLayout(ranks)
	s := &Shared{
		en: en, seg: seg, Ranks: group, self: slices.Index(group, en.Rank), piece: piece, Arena: seg.Arena(),
		places: make([]sharedPlace, ranks), homes: make([]home, ranks),
		from: make([]unsafe.Pointer, ranks), to: make([]unsafe.Pointer, 0, ranks+1),
	}
	sharing.Add(1)
	mem := seg.Bytes()
	for r := range s.places {
		p, at := &s.places[r], r*placeSize
		p.asleep, p.bell, p.beats = seg.Word(at+placeAsleep), seg.Word(at+placeBell), seg.Flag(at+placeBeats)
		for k := range p.steps {
			p.steps[k] = seg.Flag(at + k*cacheLine)
		}
		for k := range p.calls {
			p.calls[k] = mem[at+placeCalls+k*CallRoom:][:CallRoom]
		}
		for k := range p.buffers {
			p.buffers[k] = mem[ranks*placeSize+(r*SharedDepth+k)*piece:][:piece:piece]
		}
	}
	return s
}

// Close gives the memory back, once no collective uses it. With keep, the memory that Alloc
// has given out remains readable by this rank only: its segment is returned, and the error
// says why it may be lost.
func (s *Shared) Close(keep bool) (left *transport.Segment, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil
	}
	s.closed = true
	sharing.Add(-1)
	if s.Given == 0 || !keep {
		s.seg.Close()
		return nil, nil
	}
	return s.seg, s.seg.Detach()
}

// post says to the others that this rank has come further.
func (s *Shared) post(k step, n uint64) {
	s.places[s.self].steps[k].Store(n)
	for r := range s.places {
		// The rank has seen the step, or says before it looks that it may sleep.
		if p := &s.places[r]; r != s.self && p.asleep.Load() != 0 {
			p.bell.Add(1)
			transport.Wake(p.bell)
		}
	}
}

// reached says that all ranks have come as far as n with a step.
func (s *Shared) reached(k step, n uint64) bool {
	if s.known[k] >= n {
		return true
	}
	least := uint64(math.MaxUint64)
	for r := range s.places {
		at := s.places[r].steps[k].Load()
		if at < n {
			return false
		}
		least = min(least, at)
	}
	s.known[k] = least
	return true
}

// goal is what a rank waits for: that all have come so far with one of the steps, where
// that is not 0.
type goal [stepKinds]uint64

func (s *Shared) any(w *goal) bool {
	for k, n := range w {
		if n > 0 && s.reached(step(k), n) {
			return true
		}
	}
	return false
}

// await waits until all ranks have come as far as n with a step.
func (s *Shared) await(ctx context.Context, k step, n uint64) bool {
	var w goal
	w[k] = n
	return s.awaitAny(ctx, &w)
}

// awaitAny waits for what is wanted. False: the job has failed, or ctx has ended.
func (s *Shared) awaitAny(ctx context.Context, w *goal) bool {
	if s.any(w) {
		return true
	}
	var begun time.Time
	for tries := 1; ; tries++ {
		if sharing.Load() > 1 {
			runtime.Gosched() // to other ranks in this process
		}
		transport.Yield()
		if s.any(w) {
			return true
		}
		if tries%16 != 0 {
			continue
		}
		if tries == 16 {
			begun = time.Now()
		}
		waited := time.Since(begun)
		if s.over(ctx) {
			return false
		}
		if waited > spinFor {
			s.doze(w)
		}
		if waited > transport.ParkMax {
			s.en.Driver.Attend()
		}
	}
}

// doze sleeps for a while, unless what is wanted is there.
func (s *Shared) doze(w *goal) {
	me := &s.places[s.self]
	old := me.bell.Load()
	me.asleep.Store(1) // from here on news ring, and what was before is seen below
	if !s.any(w) {
		transport.Park(me.bell, old)
	}
	me.asleep.Store(0)
}

// over says that there is nothing to wait for.
func (s *Shared) over(ctx context.Context) bool {
	select {
	case <-s.en.Failed:
		return true
	default:
		return ctx.Err() != nil
	}
}

const MaxInt = int(^uint(0) >> 1)

// Alloc takes n bytes of this rank's part of the arena.
func (s *Shared) Alloc(n int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	page := os.Getpagesize()
	part := len(s.Arena) / len(s.places) / page * page
	if left := part - s.Given; n > left {
		return nil, fmt.Errorf("%d bytes of addresses are left to this rank", left)
	}
	lo := s.self*part + s.Given
	hi := lo + (n+page-1)/page*page
	if err := s.seg.Commit(lo, hi); err != nil {
		return nil, err
	}
	s.Given += hi - lo
	return s.Arena[lo : lo+n : lo+n], nil
}
