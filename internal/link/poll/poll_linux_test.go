// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/shm"
)

// rank is an owner with one link: it sends chunks and receives chunks, in order.
type rank struct {
	set      link.Set
	segments shm.Segments
	l        *link.Link
	shares   bool          // it shares memory with the peer
	send     [][]byte      // chunks that are still to be written
	got      [][]byte      // chunks that have arrived
	want     int           // number of expected chunks
	hold     bool          // the next chunk must wait
	done     chan struct{} // capacity 1: everything is sent and received
	failed   chan error    // capacity 1: the first failure
}

func (r *rank) LinkFailed(l *link.Link, err error) {
	r.set.Mu.Lock()
	defer r.set.Mu.Unlock()
	if !r.set.Stopped() {
		r.set.Seal(nil, l)
		r.failed <- err
	}
}

func (r *rank) Announce()                         {}
func (r *rank) Call([]byte) (link.Verdict, error) { return link.Take, nil }
func (r *rank) Progress([]byte) error             { return nil }
func (r *rank) Fault(payload []byte) error        { return errors.New(string(payload)) }
func (r *rank) Received(b []byte, _ link.Frame) (v link.Verdict) {
	r.set.Mu.Lock()
	defer r.set.Mu.Unlock()
	r.got = append(r.got, slices.Clone(b))
	r.check()
	return link.Take
}

func (r *rank) Expect(n int) ([]byte, link.Verdict, error) {
	switch {
	case r.hold:
		return nil, link.Wait, nil
	case len(r.got) == r.want:
		return nil, link.Take, link.Corrupt("one chunk too many, of %d bytes", n)
	}
	return make([]byte, n), link.Take, nil
}

func (r *rank) Due() bool { return true }

func (r *rank) Next() (c link.Chunk, ok bool) {
	if len(r.send) == 0 {
		return c, false
	}
	return link.Chunk{Data: r.send[0]}, true
}

func (r *rank) Summed(uint32) {}

func (r *rank) Written() {
	r.set.Mu.Lock()
	defer r.set.Mu.Unlock()
	r.send = r.send[1:]
	r.l.Wake()
	r.check()
}

func (r *rank) Sign() (byte, []byte) { return 0, nil }
func (r *rank) SharesMemory() bool   { return r.shares }
func (r *rank) InUse() bool          { return true }

// check reports the end of the work. It is called under the lock.
func (r *rank) check() {
	if len(r.send) == 0 && len(r.got) == r.want {
		select {
		case r.done <- struct{}{}:
		default:
		}
	}
}

// carry moves the bytes of the work until it is done.
func (r *rank) carry(ctx context.Context) {
	r.set.Driver.Carry(ctx, r.done, []*link.Link{r.l})
}

// change changes the work under the lock, and wakes the driver.
func (r *rank) change(change func()) {
	r.set.Mu.Lock()
	defer r.set.Mu.Unlock()
	change()
	r.check()
	r.set.Wake()
}

// switched reports whether all bytes of the link go through memory.
func (r *rank) switched() bool {
	r.set.Mu.Lock()
	defer r.set.Mu.Unlock()
	return r.l.Ring.In && r.l.Ring.Out
}

// newRank returns a rank with a driver, whose link is not open yet.
func newRank(t *testing.T, number int) *rank {
	t.Helper()
	r := &rank{done: make(chan struct{}, 1), failed: make(chan error, 1), segments: shm.Segments{Make: shm.NewSegment, Open: shm.OpenSegment}}
	r.set.Rank, r.set.Owner, r.set.Log, r.set.Failed = number, r, slog.New(slog.DiscardHandler), make(chan struct{})
	d, err := New(&r.set, &r.segments)
	if err != nil {
		t.Fatal(err)
	}
	r.set.Driver = d
	r.l = link.New(link.Peer{Rank: 1 - number}, r)
	t.Cleanup(func() {
		r.set.Mu.Lock()
		r.set.Ending = true
		r.set.Wake()
		r.set.Mu.Unlock()
		d.Stop()
		d.Wait()
	})
	return r
}

// open opens the rank's link over c.
func (r *rank) open(t *testing.T, c net.Conn, tags link.Tags) {
	t.Helper()
	r.set.Mu.Lock()
	defer r.set.Mu.Unlock()
	if err := r.set.Attach(r.l, link.Peer{Conn: c, Rank: 1 - r.set.Rank, Host: "peer", Tags: tags}); err != nil {
		t.Fatal(err)
	}
}

// sockets returns both ends of a TCP connection.
func sockets(t *testing.T) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return a, b
}

// twoRanks returns two ranks with a link between them.
func twoRanks(t *testing.T, tagged, shares bool) (a, b *rank) {
	t.Helper()
	var in, out link.Tags
	if tagged {
		x := (*auth.Secret)(nil).Epoch(auth.Scope{}).Exchange([]byte("hello"))
		in, out = link.TagsOf(x, auth.Client), link.TagsOf(x, auth.Server)
	}
	a, b = newRank(t, 0), newRank(t, 1)
	a.shares, b.shares = shares, shares
	c, d := sockets(t)
	a.open(t, c, in)
	b.open(t, d, out)
	return a, b
}

// randomChunks returns n chunks. Some are empty, some are larger than the buffers of a socket.
func randomChunks(seed uint64, n int) (all [][]byte) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		b := make([]byte, rng.IntN(1<<(1+rng.IntN(20))))
		for k := 0; k < len(b); k += 1 + len(b)/64 {
			b[k] = byte(rng.Uint32())
		}
		all = append(all, b)
	}
	return append(all, nil, make([]byte, 5<<20))
}

// Chunks of all sizes arrive in order in both directions at once, over a socket and over a ring in
// shared memory, with checksums and with tags.
func TestChunksArriveInOrder(t *testing.T) {
	for name, c := range map[string]struct{ tagged, shares bool }{
		"socket": {}, "socket with tags": {tagged: true}, "ring": {shares: true}, "ring with tags": {tagged: true, shares: true},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := twoRanks(t, c.tagged, c.shares)
			switched := func() bool { return a.switched() && b.switched() }
			for c.shares && !switched() { // the messages of the upgrade travel with chunks
				exchange(t, a, b, [2][][]byte{{[]byte("a")}, {[]byte("b")}})
			}
			exchange(t, a, b, [2][][]byte{randomChunks(1, 40), randomChunks(2, 40)})
			if switched() != c.shares {
				t.Errorf("the bytes go through memory: %v, want %v", switched(), c.shares)
			}
		})
	}
}

// exchange lets each rank send its data to the other one, and compares what has arrived.
func exchange(t *testing.T, a, b *rank, data [2][][]byte) {
	t.Helper()
	var work sync.WaitGroup
	for i, r := range []*rank{a, b} {
		r.change(func() { r.send, r.got, r.want = slices.Clone(data[i]), nil, len(data[1-i]) })
	}
	for _, r := range []*rank{a, b} {
		work.Go(func() { r.carry(t.Context()) })
	}
	work.Wait()
	for i, r := range []*rank{a, b} {
		r.set.Mu.Lock()
		if !slices.EqualFunc(data[1-i], r.got, bytes.Equal) {
			t.Errorf("rank %d has %d chunks, other than the %d that were sent", i, len(r.got), len(data[1-i]))
		}
		r.set.Mu.Unlock()
		select {
		case err := <-r.failed:
			t.Fatalf("rank %d: %v", i, err)
		default:
		}
	}
}

// A chunk without a place stops the reader, and the writer with it: what the peer sends stays in the
// buffers of the socket. It arrives after a wake-up.
func TestHeldChunkStopsTheReader(t *testing.T) {
	a, b := twoRanks(t, false, false)
	chunk := make([]byte, link.MaxChunk) // more than the buffers of both sockets
	chunk[len(chunk)-1] = 1
	b.change(func() { b.want, b.hold = 1, true })
	a.change(func() { a.send = [][]byte{chunk} })
	var work sync.WaitGroup
	work.Go(func() { a.carry(t.Context()) })
	work.Go(func() { b.carry(t.Context()) })
	for held := false; !held && !b.set.Down(); runtime.Gosched() {
		b.set.Mu.Lock()
		held = b.l.Held()
		b.set.Mu.Unlock()
	}
	if in, _ := b.l.Counts(); in > 2*link.ReadAhead {
		t.Errorf("%d bytes were read without a place for them", in)
	}
	b.change(func() { b.hold = false })
	work.Wait()
	if len(b.got) != 1 || !bytes.Equal(b.got[0], chunk) {
		t.Errorf("%d chunks have arrived", len(b.got))
	}
}

// A link that opens while the work waits takes part in it.
func TestLinkThatOpensDuringTheWork(t *testing.T) {
	a, b := newRank(t, 0), newRank(t, 1)
	c, d := sockets(t)
	a.change(func() { a.send = [][]byte{[]byte("early")} })
	b.change(func() { b.want = 1 })
	b.open(t, d, link.Tags{})
	var work sync.WaitGroup
	work.Go(func() { a.carry(t.Context()) })
	work.Go(func() { b.carry(t.Context()) })
	for asleep := false; !asleep; runtime.Gosched() {
		asleep = a.set.Driver.(*Loop).asleep.Load()
	}
	a.open(t, c, link.Tags{})
	work.Wait()
	if len(b.got) != 1 || string(b.got[0]) != "early" {
		t.Errorf("%q has arrived", b.got)
	}
}

// Carry ends when its context ends, and when the set fails, also while it sleeps.
func TestCarryEnds(t *testing.T) {
	for name, end := range map[string]func(r *rank, cancel context.CancelFunc){
		"by its context":    func(_ *rank, cancel context.CancelFunc) { cancel() },
		"by a failed set":   func(r *rank, _ context.CancelFunc) { r.change(func() { r.set.Seal(nil, nil) }) },
		"by the work's end": func(r *rank, _ context.CancelFunc) { r.change(func() { r.want = 0 }) },
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := twoRanks(t, false, false)
			a.change(func() { a.want = 1 })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				a.carry(ctx)
			}()
			for asleep := false; !asleep; runtime.Gosched() {
				asleep = a.set.Driver.(*Loop).asleep.Load()
			}
			end(a, cancel)
			<-ended
		})
	}
}

// Between two collectives the watcher reports the end of a link, corrupt bytes, and the last frame
// of a peer that fails.
func TestWatcherReportsFailures(t *testing.T) {
	broken := func(err error) bool { _, is := errors.AsType[*link.BrokenError](err); return is }
	corrupt := func(err error) bool { _, is := errors.AsType[*link.CorruptError](err); return is }
	for name, c := range map[string]struct {
		fail func(b *rank)
		is   func(error) bool
	}{
		"the peer ends":            {func(b *rank) { b.set.Driver.Cut() }, broken},
		"the peer closes the link": {func(b *rank) { b.set.Driver.Stop() }, broken},
		"a bit flips": {func(b *rank) {
			b.set.FlipNext()
			b.change(func() { b.send = [][]byte{make([]byte, 1000)} })
			b.carry(context.Background())
		}, corrupt},
		"the peer fails": {func(b *rank) {
			b.change(func() { b.set.Seal([]byte("no data"), nil) })
			b.set.Driver.FlushErrors()
		}, func(err error) bool { return err != nil && err.Error() == "no data" }},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := twoRanks(t, false, false)
			a.change(func() { a.want = 1 })
			c.fail(b)
			if err := <-a.failed; !c.is(err) {
				t.Errorf("the failure is %v", err)
			}
		})
	}
}

// A link over a connection without a descriptor is refused.
func TestAttachNeedsASocket(t *testing.T) {
	r := newRank(t, 0)
	c, d := net.Pipe()
	defer c.Close()
	defer d.Close()
	r.set.Mu.Lock()
	defer r.set.Mu.Unlock()
	if err := r.set.Attach(r.l, link.Peer{Conn: c, Rank: 1, Host: "peer"}); err == nil || r.l.IsOpen() {
		t.Errorf("a pipe is attached: %v", err)
	}
}
