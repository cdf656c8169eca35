// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
)

const (
	// spinFor is how long a rank that waits tries again and again, and lets others run in between,
	// before it sleeps. It is longer than a small message takes, so that the message finds the
	// rank awake, and so short that waiting costs little.
	spinFor = 100 * time.Microsecond
	// Piece is the number of bytes of a vector that go through the segment at once: so few that all
	// pieces on their way stay in a cache, so many that waiting does not count.
	Piece = 64 << 10
	// Depth is the number of pieces of each rank that may be on their way. So far may ranks run
	// ahead of each other.
	Depth = 4
	// MaxRanks limits the ranks that share a segment.
	MaxRanks = 64
	// Block is the number of bytes that are summed at once, in the innermost cache.
	Block = 8 << 10
	// Small is the length in bytes up to which every rank sums the whole vector: that takes less
	// time than another wait for the others.
	Small = 4 << 10
	// ArenaBytes is the size of the arena of all ranks together. These are addresses: only what is
	// used has memory.
	ArenaBytes = 256 << 30
	// cacheLine separates what different ranks write.
	cacheLine = 64
)

// The segment holds a place for each rank, then Depth buffers of each rank, for a piece each:
//
//	offset  size  of a place
//	     0     8  arrived: how many pieces the rank has brought in
//	    64     8  summed: of how many pieces the rank has summed its share
//	   128     8  taken: of how many pieces the rank has the result
//	   192     4  asleep: 1 while the rank sleeps, or is about to
//	   196     4  bell: the word it sleeps on
//	   200     8  beats: a sign of life of a rank that is busy with other hosts
//	   256   384  its last two collectives, of 192 bytes each: the length of the header,
//	              where its contribution and where its result lie in the arena, 1 more
//	              than the offset or 0, each of 8 bytes; then the header
//
// In the arena each rank has a part of its own.
const (
	placeAsleep  = 3 * cacheLine
	placeBell    = placeAsleep + 4
	placeBeats   = placeAsleep + 8
	placeHeaders = 4 * cacheLine
	headerSrc    = 8
	headerBytes  = 24
	placeSize    = placeHeaders + 2*HeaderRoom

	// HeaderRoom is the size of a collective's entry in a place, and HeaderDst the offset of the
	// result's place in it. MaxHeader is the limit of the header.
	HeaderRoom = 3 * cacheLine
	HeaderDst  = 16
	MaxHeader  = HeaderRoom - headerBytes
)

// step is how far a rank has come with a piece. Each rank publishes the number of its last piece for each
// step, and the others read it. The numbers only grow.
type step int

const (
	arrived step = iota
	summed
	taken
	stepKinds
)

// sharing is the number of groups of this process.
var sharing atomic.Int32

// ErrClosed is returned by Alloc after Close.
var ErrClosed = errors.New("shm: the group is closed")

// Owner is the owner of a group, on one rank.
type Owner interface {
	// Agrees reports whether a rank makes the same call as this one. theirs begins with the
	// header that the rank has announced, of n bytes as it claims. If the calls differ the owner
	// fails the job.
	Agrees(rank int, theirs []byte, n uint64) bool
	// Corrupt fails the job: a rank has written invalid values.
	Corrupt(rank int, err error)
	// Progress counts bytes of the result.
	Progress(n int)
	// InterHost carries out the part of a collective that goes to other hosts: prog over v, which
	// the ranks of this host have summed. False: the job has failed, or ctx has ended.
	InterHost(ctx context.Context, prog *schedule.Program, v []byte) bool
	// Attend watches the links to the other ranks during a long wait.
	Attend()
}

// Group is one rank's view of the segment in which the ranks of one host all-reduce. A piece
// goes through it in three steps: each rank copies it in; each sums a share of it, as
// [schedule.Spec.Sums] defines; each copies the result out. A rank that has its vector in
// the arena copies nothing: the others read it there, and leave the result there.
//
// Ranks are numbered by their places here. The first one is the leader where there are other
// hosts.
type Group struct {
	Ranks []int         // in the job, ascending
	Arena []byte        // the memory of Alloc, of all ranks
	Done  atomic.Uint64 // how many collectives have ended here
	Given int           // bytes of this rank's part of the arena that are in use

	owner  Owner
	failed <-chan struct{} // closed when the job has failed
	seg    *Segment
	self   int // this rank's place
	piece  int // bytes of a piece, at most
	places []rankPlace
	turn   uint64            // how many pieces this rank has taken
	known  [stepKinds]uint64 // so far all ranks have come, as far as is known
	slept  atomic.Int64      // time of waits that are over, in ns
	sleeps atomic.Int64      // when the present one began, in ns since 1970; 0: there is none
	calls  uint64            // how many collectives it has begun here
	first  uint64            // the turn of the first piece of this one; under the owner's lock
	task   Task
	homes  []home // by place, where its vectors are
	summer summer
	from   []unsafe.Pointer
	to     []unsafe.Pointer

	mu     sync.Mutex // held by a collective, and by Close
	closed bool
}

// home is where a rank has its vectors; nil: not in the arena.
type home struct{ src, dst unsafe.Pointer }

// rankPlace is a rank's part of the segment: its place, and its buffers.
type rankPlace struct {
	steps        [stepKinds]*atomic.Uint64
	asleep, bell *atomic.Uint32
	beats        *atomic.Uint64
	headers      [2][]byte
	buffers      [Depth][]byte
}

// Layout returns the size in bytes of a piece and of the segment for so many ranks. Pieces grow
// with the number of ranks, so that the shares do not get too small.
func Layout(ranks int) (piece, total int) {
	piece = Piece
	if ranks > 8 {
		piece *= 2
	}
	return piece, ranks * (placeSize + Depth*piece)
}

// NewGroup returns the view that one of ranks has of the segment that all of them have opened. failed is
// closed when the job has failed.
func NewGroup(owner Owner, failed <-chan struct{}, seg *Segment, rank int, ranks []int) *Group {
	n := len(ranks)
	piece, _ := Layout(n)
	s := &Group{
		owner: owner, failed: failed, seg: seg, Ranks: ranks, self: slices.Index(ranks, rank), piece: piece, Arena: seg.Arena(),
		places: make([]rankPlace, n), homes: make([]home, n),
		from: make([]unsafe.Pointer, n), to: make([]unsafe.Pointer, 0, n+1),
	}
	sharing.Add(1)
	mem := seg.Bytes()
	for r := range s.places {
		p, at := &s.places[r], r*placeSize
		p.asleep, p.bell, p.beats = seg.Word(at+placeAsleep), seg.Word(at+placeBell), seg.Flag(at+placeBeats)
		for k := range p.steps {
			p.steps[k] = seg.Flag(at + k*cacheLine)
		}
		for k := range p.headers {
			p.headers[k] = mem[at+placeHeaders+k*HeaderRoom:][:HeaderRoom]
		}
		for k := range p.buffers {
			p.buffers[k] = mem[n*placeSize+(r*Depth+k)*piece:][:piece:piece]
		}
	}
	return s
}

// Close gives the memory back, once no collective uses it. With keep, the memory that Alloc
// has given out remains readable by this rank only: its segment is returned, and the error
// says why it may be lost.
func (s *Group) Close(keep bool) (left *Segment, err error) {
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

// post publishes that this rank has come as far as n with a step, and wakes the ranks that sleep.
func (s *Group) post(k step, n uint64) {
	s.places[s.self].steps[k].Store(n)
	for r := range s.places {
		// The rank has seen the step, or it sets asleep before it looks at the step.
		if p := &s.places[r]; r != s.self && p.asleep.Load() != 0 {
			p.bell.Add(1)
			Wake(p.bell)
		}
	}
}

// reached reports whether all ranks have come as far as n with a step. It remembers the least number
// that it has seen, so most calls touch no shared memory.
func (s *Group) reached(k step, n uint64) bool {
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

// goal is what a rank waits for: that all ranks have come so far with any one of the steps. 0 is not
// waited for.
type goal [stepKinds]uint64

func (s *Group) any(w *goal) bool {
	for k, n := range w {
		if n > 0 && s.reached(step(k), n) {
			return true
		}
	}
	return false
}

// await waits until all ranks have come as far as n with a step.
func (s *Group) await(ctx context.Context, k step, n uint64) bool {
	var w goal
	w[k] = n
	return s.awaitAny(ctx, &w)
}

// awaitAny waits for what is wanted. False: the job has failed, or ctx has ended.
func (s *Group) awaitAny(ctx context.Context, w *goal) bool {
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
			if tries >= 16 {
				s.sleeps.Store(0)
				s.slept.Add(int64(time.Since(begun)))
			}
			return true
		}
		if tries%16 != 0 {
			continue
		}
		if tries == 16 {
			begun = time.Now()
			s.sleeps.Store(begun.UnixNano())
		}
		waited := time.Since(begun)
		if s.over(ctx) {
			return false
		}
		if waited > spinFor {
			s.park(w, waited > LongParkMax)
		}
		if waited > ParkMax {
			s.owner.Attend()
		}
	}
}

// Slept returns the time for which this rank has waited for others so far. Waits of less than some microseconds are not counted.
// It may be called while a collective is under way.
func (s *Group) Slept() time.Duration {
	d := time.Duration(s.slept.Load())
	if since := s.sleeps.Load(); since != 0 {
		d += max(0, time.Since(time.Unix(0, since)))
	}
	return d
}

// IsSmall reports whether each rank sums all of a vector of n bytes.
func (s *Group) IsSmall(n int) bool { return n <= Small }

// park sleeps for a while, in a long wait for longer, unless what is wanted is there.
func (s *Group) park(w *goal, long bool) {
	me := &s.places[s.self]
	old := me.bell.Load()
	me.asleep.Store(1) // from here on news ring, and what was before is seen below
	if !s.any(w) {
		Park(me.bell, old, long)
	}
	me.asleep.Store(0)
}

// over reports whether the job has failed or ctx has ended.
func (s *Group) over(ctx context.Context) bool {
	select {
	case <-s.failed:
		return true
	default:
		return ctx.Err() != nil
	}
}

// Alloc takes n bytes of this rank's part of the arena.
func (s *Group) Alloc(n int) ([]byte, error) {
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
