// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/shm"
)

// content returns a chunk that differs from all others.
func content(from, to, round, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i*7 + from*31 + to*59 + round*101 + i>>8)
	}
	return b
}

// sizes draws the size of a chunk. The limits of copied chunks, of a read and of a ring are likely.
var sizes = rapid.OneOf(
	rapid.SampledFrom([]int{0, 1, smallData - 1, smallData, smallData + 1, link.ReadAhead - link.FrameSize, link.ReadAhead, 128 << 10}),
	rapid.IntRange(0, 3000), rapid.IntRange(0, 300_000),
)

// TestChunksArriveInOrder: in any rounds of any job, over sockets and over rings, with and without tags,
// every chunk arrives once, in order, with its bytes, and no round ends before that.
func TestChunksArriveInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := options{shared: rapid.Bool().Draw(rt, "shared memory"), tagged: rapid.Bool().Draw(rt, "tags")}
		n, rounds := rapid.IntRange(2, 4).Draw(rt, "ranks"), rapid.IntRange(1, 3).Draw(rt, "rounds")
		ranks := mesh(rt, n, o)
		defer stop(ranks...)
		sent := make([][][]byte, n*n) // by from*n + to
		for round := range rounds {
			send, expect := make([][][][]byte, n), make([][]int, n)
			for i := range n {
				send[i], expect[i] = make([][][]byte, n), make([]int, n)
			}
			for from := range n {
				for to := range n {
					for k := range rapid.IntRange(0, 3).Draw(rt, "chunks") {
						if from != to {
							send[from][to] = append(send[from][to], content(from, to, 10*round+k, sizes.Draw(rt, "size")))
						}
					}
					expect[to][from] = len(send[from][to])
					sent[from*n+to] = append(sent[from*n+to], send[from][to]...)
				}
			}
			var work sync.WaitGroup
			for i, r := range ranks {
				r.begin(send[i], expect[i])
				work.Go(func() { r.finish(context.Background()) })
			}
			work.Wait()
		}
		for from := range n {
			for to, r := range ranks {
				if from == to {
					continue
				}
				if got := r.received(from); !slices.EqualFunc(got, sent[from*n+to], bytes.Equal) {
					rt.Errorf("rank %d has %d chunks of rank %d, other than the %d that were sent", to, len(got), from, len(sent[from*n+to]))
				}
				if in, out := r.ends[from].l.Counts(); in == 0 && len(sent[from*n+to]) > 0 || out == 0 && len(sent[to*n+from]) > 0 {
					rt.Errorf("rank %d counts %d bytes in and %d out of its link to rank %d", to, in, out, from)
				}
			}
		}
	})
}

// exchange sends a chunk in both directions.
func exchange(t *testing.T, a, b *rank, round, size int) {
	t.Helper()
	x, y := content(0, 1, round, size), content(1, 0, round, size)
	a.begin([][][]byte{1: {x}}, []int{1: 1})
	b.begin([][][]byte{0: {y}}, []int{0: 1})
	var work sync.WaitGroup
	work.Go(func() { b.finish(t.Context()) })
	a.finish(t.Context())
	work.Wait()
	for _, c := range []struct {
		got  [][]byte
		want []byte
	}{{a.received(1), y}, {b.received(0), x}} {
		if len(c.got) == 0 || !bytes.Equal(c.got[len(c.got)-1], c.want) {
			t.Errorf("round %d: other bytes", round)
		}
	}
}

// TestRingsReplaceSockets: links between ranks that share memory move to rings, unless one rank cannot
// make or open them.
func TestRingsReplaceSockets(t *testing.T) {
	broken := errors.New("no memory")
	for _, c := range []struct {
		name     string
		segments func(rank int) shm.Segments
		rings    bool
	}{
		{"rings", nil, true},
		{"the lower rank cannot make a segment", func(int) shm.Segments {
			return shm.Segments{Make: func(int, int64) (*shm.Segment, error) { return nil, broken }, Open: shm.OpenSegment}
		}, false},
		{"the higher rank cannot open it", func(int) shm.Segments {
			return shm.Segments{Make: shm.NewSegment, Open: func(shm.Location) (*shm.Segment, error) { return nil, broken }}
		}, false},
		{"the segment has another length", func(int) shm.Segments {
			return shm.Segments{Make: func(n int, arena int64) (*shm.Segment, error) { return shm.NewSegment(n+4096, arena) }, Open: shm.OpenSegment}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := newPair(t, options{shared: true, segments: c.segments})
			for round := range 4 {
				exchange(t, a, b, round, 50_000)
			}
			for _, r := range []*rank{a, b} {
				r.loop.io.Lock()
				ring, in, out := r.loop.conns[0].ring, false, false
				if ring != nil {
					in, out = ring.Switched()
				}
				r.loop.io.Unlock()
				if c.rings != in || c.rings != out {
					t.Errorf("rank %d: in over memory %v, out %v", r.set.Rank, in, out)
				}
			}
		})
	}
}

// TestAWaitSleeps: a rank that waits at a ring, or at a socket, sleeps until a chunk arrives.
func TestAWaitSleeps(t *testing.T) {
	for _, shared := range []bool{true, false} {
		a, b := newPair(t, options{shared: shared})
		for round := range 4 { // the links turn to rings
			exchange(t, a, b, round, 50_000)
		}
		for round := range 3 {
			chunk := content(1, 0, round, 1000)
			a.begin(make([][][]byte, 2), []int{1: 1})
			ended := make(chan struct{})
			go func() {
				a.finish(t.Context())
				close(ended)
			}()
			for !a.loop.bell.sleeping() {
				runtime.Gosched()
			}
			b.begin([][][]byte{0: {chunk}}, make([]int, 2))
			b.finish(t.Context())
			<-ended
			if got := a.received(1); !bytes.Equal(got[len(got)-1], chunk) {
				t.Errorf("shared %v, round %d: other bytes", shared, round)
			}
		}
	}
}

// TestALinkOpensDuringTheWork: a link that a round needs may open after the round has begun.
func TestALinkOpensDuringTheWork(t *testing.T) {
	ranks := newRanks(t, 3, options{})
	defer stop(ranks...)
	connect(t, ranks[0], ranks[1], options{})
	chunk := content(0, 2, 1, 70_000)
	var work sync.WaitGroup
	for i, r := range ranks {
		send, expect := make([][][]byte, 3), make([]int, 3)
		if i == 0 {
			send[2] = [][]byte{chunk}
		}
		if i == 2 {
			expect[0] = 1
		}
		r.begin(send, expect)
		work.Go(func() { r.finish(t.Context()) })
	}
	<-ranks[0].announced // it sleeps
	connect(t, ranks[0], ranks[2], options{})
	work.Wait()
	if got := ranks[2].received(0); len(got) != 1 || !bytes.Equal(got[0], chunk) {
		t.Errorf("rank 2 has %d chunks", len(got))
	}
}

// TestCarryEnds: the end of the context, and a failure or the end of the set, end a wait for a peer that
// sends nothing, and nothing is reported.
func TestCarryEnds(t *testing.T) {
	for name, end := range map[string]func(r *rank, cancel func()){
		"context": func(_ *rank, cancel func()) { cancel() },
		"failure": func(r *rank, _ func()) {
			r.set.Mu.Lock()
			defer r.set.Mu.Unlock()
			r.set.Seal(nil, nil)
		},
		"end of the set": func(r *rank, _ func()) {
			r.set.Mu.Lock()
			r.set.Ending = true
			r.set.Wake()
			r.set.Mu.Unlock()
			r.loop.Stop()
		},
		"end of the work": func(r *rank, _ func()) {
			r.set.Mu.Lock()
			defer r.set.Mu.Unlock()
			r.ends[1].expect = 0
			r.progress()
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := newPair(t, options{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			a.begin([][][]byte{1: nil}, []int{1: 1})
			ended := make(chan struct{})
			go func() {
				a.finish(ctx)
				close(ended)
			}()
			<-a.announced
			end(a, cancel)
			a.awaitEnd(t, ended, name)
			if len(a.fail) > 0 {
				t.Errorf("reported: %v", <-a.fail)
			}
		})
	}
}

// TestTheEndOfAPeer: it is a BrokenError, in a round and between two, after what the peer has sent before.
func TestTheEndOfAPeer(t *testing.T) {
	for _, shared := range []bool{false, true} {
		for _, working := range []bool{false, true} {
			t.Run(fmt.Sprintf("shared %v, in a round %v", shared, working), func(t *testing.T) {
				a, b := newPair(t, options{shared: shared})
				exchange(t, a, b, 1, 1000)
				var work sync.WaitGroup
				if working {
					a.begin([][][]byte{1: nil}, []int{1: 1})
					work.Go(func() { a.finish(t.Context()) })
				}
				b.loop.Stop()
				err := <-a.fail
				work.Wait()
				if _, broken := errors.AsType[*link.BrokenError](err); !broken || !errors.Is(err, io.EOF) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// TestCutEndsBothSides: the fault ends the links of both ranks, and the sockets stay open until Stop.
func TestCutEndsBothSides(t *testing.T) {
	a, b := newPair(t, options{})
	a.loop.Cut()
	for _, r := range []*rank{a, b} {
		if _, broken := errors.AsType[*link.BrokenError](<-r.fail); !broken {
			t.Errorf("rank %d does not report the end", r.set.Rank)
		}
	}
	if !a.loop.conns[0].up.Load() {
		t.Error("Cut has closed the socket")
	}
}

// seal fails a rank with a reason for its peers.
func (r *rank) seal(reason string) {
	r.set.Mu.Lock()
	r.set.Seal([]byte(reason), nil)
	r.set.Mu.Unlock()
	r.loop.FlushErrors()
}

// TestTheWatcherReportsFailures: between two rounds corrupt bytes and the last frame of a peer are
// reported.
func TestTheWatcherReportsFailures(t *testing.T) {
	for name, c := range map[string]struct {
		fail func(b *rank)
		is   func(err error) bool
	}{
		"a bit flips": {func(b *rank) {
			b.set.FlipNext()
			b.begin([][][]byte{0: {make([]byte, 1000)}}, []int{0: 0})
			b.finish(context.Background())
		}, func(err error) bool { _, is := errors.AsType[*link.CorruptError](err); return is }},
		"the peer fails": {func(b *rank) { b.seal("no data") }, func(err error) bool { return err != nil && err.Error() == "no data" }},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := newPair(t, options{})
			a.begin([][][]byte{1: nil}, []int{1: 1}) // a has a place for the chunk, and does not call Carry
			c.fail(b)
			if err := <-a.fail; !c.is(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestAttachNeedsASocket: a link over a connection without a descriptor is refused.
func TestAttachNeedsASocket(t *testing.T) {
	ranks := newRanks(t, 2, options{})
	defer stop(ranks...)
	r := ranks[0]
	c, d := net.Pipe()
	defer c.Close()
	defer d.Close()
	l := r.ends[1].l
	r.set.Mu.Lock()
	err := r.set.Attach(l, link.Peer{Conn: c, Rank: 1, Host: "peer"})
	r.set.Mu.Unlock()
	if err == nil || l.IsOpen() {
		t.Errorf("a pipe is attached: %v", err)
	}
}

// TestTheLastFrameFollowsAWholeFrame: a rank that fails in the middle of a chunk writes the rest of the
// chunk first, so that the peer can decode the reason.
func TestTheLastFrameFollowsAWholeFrame(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprintf("shared %v", shared), func(t *testing.T) {
			a, b := newPair(t, options{shared: shared})
			exchange(t, a, b, 1, 1000)
			chunk := content(0, 1, 2, 8<<20) // larger than the buffers of the connection
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			a.begin([][][]byte{1: {chunk}}, []int{1: 1})
			carried := make(chan struct{})
			go func() {
				a.finish(ctx)
				close(carried)
			}()
			<-a.announced // it is blocked in the middle of the chunk: b does not read
			cancel()
			<-carried
			var work sync.WaitGroup
			b.begin([][][]byte{0: nil}, []int{0: 2})
			work.Go(func() { b.finish(t.Context()) })
			a.seal("disk full")
			if err := a.flushedTo(t, b); err == nil || err.Error() != "disk full" {
				t.Errorf("got %v, want the reason", err)
			}
			work.Wait()
			if got := b.received(0); len(got) != 2 || !bytes.Equal(got[1], chunk) {
				t.Errorf("rank 1 has %d chunks", len(got))
			}
		})
	}
}

// TestTheLastFrameFollowsItsSeal: a rank that fails while a chunk is composed, without the set's lock,
// sends the reason.
func TestTheLastFrameFollowsItsSeal(t *testing.T) {
	a, b := newPair(t, options{})
	a.ends[1].onSummed = func() {
		a.set.Mu.Lock()
		defer a.set.Mu.Unlock()
		a.set.Seal([]byte("no data"), nil)
	}
	b.begin([][][]byte{0: nil}, []int{0: 1})
	a.begin([][][]byte{1: {make([]byte, 1000)}}, []int{1: 0})
	a.finish(t.Context())
	a.loop.FlushErrors()
	select {
	case err := <-b.fail:
		if err.Error() != "no data" {
			t.Errorf("got %v", err)
		}
	case <-time.After(wakeLimit):
		t.Errorf("the last frame has not arrived within %v", wakeLimit)
	}
}

// flushedTo returns the failure of a peer. On a busy machine one FlushErrors may give up before the last
// frame has left.
func (r *rank) flushedTo(t *testing.T, peer *rank) error {
	t.Helper()
	for began := time.Now(); time.Since(began) < wakeLimit; r.loop.FlushErrors() {
		select {
		case err := <-peer.fail:
			return err
		case <-time.After(link.FlushWithin):
		}
	}
	t.Fatalf("no failure has arrived within %v", wakeLimit)
	return nil
}

// TestFlushErrorsGivesUp: a peer that does not read delays it for FlushWithin only.
func TestFlushErrorsGivesUp(t *testing.T) {
	a, b := newPair(t, options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.loop.io.Lock() // b reads nothing
	defer b.loop.io.Unlock()
	a.begin([][][]byte{1: {make([]byte, 12<<20)}}, []int{1: 1})
	carried := make(chan struct{})
	go func() {
		a.finish(ctx)
		close(carried)
	}()
	<-a.announced
	cancel()
	<-carried
	a.seal("disk full")
	if _, out := a.ends[1].l.Counts(); out == 12<<20 {
		t.Error("the chunk was written although the peer does not read")
	}
}

// TestHeldFramesBoundMemory: while the owner has no place for a chunk, the driver reads no more than its
// buffer, and the peer's writes block.
func TestHeldFramesBoundMemory(t *testing.T) {
	a, b := newPair(t, options{})
	const total = 64 << 20
	chunks := make([][]byte, 16)
	for i := range chunks {
		chunks[i] = make([]byte, total/len(chunks))
	}
	a.begin([][][]byte{1: chunks}, []int{1: 0})
	var work sync.WaitGroup
	work.Go(func() { a.finish(t.Context()) })
	<-a.announced // it has waited for room
	if in, _ := b.ends[0].l.Counts(); in > link.ReadAhead {
		t.Errorf("%d bytes were read without a place, want at most %d", in, link.ReadAhead)
	}
	b.begin([][][]byte{0: nil}, []int{0: len(chunks)})
	b.finish(t.Context())
	work.Wait()
	if in, _ := b.ends[0].l.Counts(); in < total {
		t.Errorf("%d bytes were read, want more than %d", in, total)
	}
}

// TestNothingIsLeftOpen: Stop and Wait close all descriptors of a loop, may be called again, and end
// the count of loops.
func TestNothingIsLeftOpen(t *testing.T) {
	before, running := descriptors(t), loops.Load()
	for range 3 {
		ranks := mesh(t, 3, options{shared: true})
		if got := loops.Load(); got != running+3 {
			t.Errorf("%d loops, want %d", got, running+3)
		}
		exchangeAll(t, ranks)
		stop(ranks...)
		stop(ranks...)
	}
	if after := descriptors(t); after != before || loops.Load() != running {
		t.Errorf("%d descriptors and %d loops, want %d and %d", after, loops.Load(), before, running)
	}
}

// exchangeAll sends a chunk from each rank to each other one.
func exchangeAll(t *testing.T, ranks []*rank) {
	t.Helper()
	var work sync.WaitGroup
	for i, r := range ranks {
		send, expect := make([][][]byte, len(ranks)), make([]int, len(ranks))
		for to := range ranks {
			if to != i {
				send[to], expect[to] = [][]byte{content(i, to, 0, 3000)}, 1
			}
		}
		r.begin(send, expect)
		work.Go(func() { r.finish(t.Context()) })
	}
	work.Wait()
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
