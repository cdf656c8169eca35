// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/shm"
)

// rank is an owner of links over a Loop. A round of work sends chunks to some peers, and is done when
// they have left and the expected ones have arrived.
type rank struct {
	set       link.Set
	loop      *Loop
	segments  shm.Segments
	ends      []*end // by the rank of the peer; nil: this rank
	links     []*link.Link
	done      chan struct{} // capacity 1
	fail      chan error    // capacity 1: the first failure
	announced chan struct{} // capacity 1

	onAnnounce func() // called by Announce; nil: nothing
}

var _ link.Owner = (*rank)(nil)

func (r *rank) LinkFailed(_ *link.Link, err error) {
	r.set.Mu.Lock()
	defer r.set.Mu.Unlock()
	if r.set.Stopped() {
		return
	}
	r.set.Seal(nil, nil)
	r.fail <- err
}

func (r *rank) Announce() {
	if r.onAnnounce != nil {
		r.onAnnounce()
	}
	select {
	case r.announced <- struct{}{}:
	default:
	}
}

// end is a rank's handler of one link.
type end struct {
	r      *rank
	l      *link.Link
	shares bool // the peer is on the same machine

	onSummed func() // called by Summed, without the lock; nil: nothing

	// Under the lock of the set.
	send   [][]byte // still to be written
	expect int      // number of chunks still to come in this round
	got    [][]byte // copies of those that have come; nil: they are not kept
	keep   bool
	room   []byte // memory for the next chunk
}

var _ link.Handler = (*end)(nil)

func (e *end) Call([]byte) (link.Verdict, error) { return link.Take, nil }
func (e *end) Progress([]byte) error             { return nil }
func (e *end) Fault(payload []byte) error        { return errors.New(string(payload)) }

// Expect lets chunks of a later round wait.
func (e *end) Expect(n int) ([]byte, link.Verdict, error) {
	if e.expect == 0 {
		return nil, link.Wait, nil
	}
	if len(e.room) < n {
		e.room = make([]byte, n)
	}
	return e.room[:n], link.Take, nil
}

func (e *end) Received(data []byte, _ link.Frame) link.Verdict {
	e.r.set.Mu.Lock()
	defer e.r.set.Mu.Unlock()
	e.expect--
	if e.keep {
		e.got = append(e.got, bytes.Clone(data))
	}
	e.r.progress()
	return link.Take
}

func (e *end) Due() bool { return true }

func (e *end) Next() (link.Chunk, bool) {
	if len(e.send) == 0 {
		return link.Chunk{}, false
	}
	return link.Chunk{Data: e.send[0]}, true
}

func (e *end) Summed(uint32) {
	if e.onSummed != nil {
		e.onSummed()
	}
}

func (e *end) Written() {
	e.r.set.Mu.Lock()
	defer e.r.set.Mu.Unlock()
	e.send = e.send[1:]
	if e.r.set.Stopped() {
		return
	}
	e.l.Wake()
	e.r.progress()
}

func (e *end) Sign() (byte, []byte) { return 0, nil }
func (e *end) SharesMemory() bool   { return e.shares }
func (e *end) InUse() bool          { return true }

// progress ends the round, under the lock.
func (r *rank) progress() {
	for _, e := range r.ends {
		if e != nil && (len(e.send) > 0 || e.expect > 0) {
			return
		}
	}
	r.done <- struct{}{}
	r.loop.Wake()
}

// begin starts a round: send and expect have the chunks, and their number, by peer.
func (r *rank) begin(send [][][]byte, expect []int) {
	r.set.Mu.Lock()
	defer r.set.Mu.Unlock()
	for peer, e := range r.ends {
		if e != nil {
			e.send, e.expect = send[peer], expect[peer]
		}
	}
	r.set.Wake()
	r.progress() // a round without chunks
}

// finish carries the round to its end.
func (r *rank) finish(ctx context.Context) { r.loop.Carry(ctx, r.done, r.links) }

// received returns what has come from a peer.
func (r *rank) received(peer int) [][]byte {
	r.set.Mu.Lock()
	defer r.set.Mu.Unlock()
	return slices.Clone(r.ends[peer].got)
}

// options are how the ranks of a test are connected.
type options struct {
	shared, tagged, drops bool
	segments              func(rank int) shm.Segments // nil: those of package shm
}

// failer is the part of testing.T that rapid.T has, too.
type failer interface {
	Helper()
	Fatal(args ...any)
}

// newRanks returns ranks without links.
func newRanks(t failer, n int, o options) []*rank {
	t.Helper()
	ranks := make([]*rank, n)
	for i := range ranks {
		r := &rank{ends: make([]*end, n), done: make(chan struct{}, 1), fail: make(chan error, 1), announced: make(chan struct{}, 1)}
		r.segments = shm.Segments{Make: shm.NewSegment, Open: shm.OpenSegment}
		if o.segments != nil {
			r.segments = o.segments(i)
		}
		r.set.Rank, r.set.Owner, r.set.Log, r.set.Failed = i, r, slog.New(slog.DiscardHandler), make(chan struct{})
		d, err := New(&r.set, &r.segments)
		if err != nil {
			t.Fatal(err)
		}
		r.set.Driver, r.loop = d, d.(*Loop)
		for peer := range n {
			if peer != i {
				e := &end{r: r, shares: o.shared, keep: !o.drops}
				e.l = link.New(link.Peer{Rank: peer}, e)
				r.ends[peer] = e
				r.links = append(r.links, e.l)
			}
		}
		ranks[i] = r
	}
	return ranks
}

// connect opens the links between two ranks.
func connect(t failer, a, b *rank, o options) {
	t.Helper()
	c, d := tcpPair(t)
	var in, out link.Tags
	if o.tagged {
		x := (*auth.Secret)(nil).Epoch(auth.Scope{}).Exchange([]byte("hello"))
		in, out = link.TagsOf(x, auth.Client), link.TagsOf(x, auth.Server)
	}
	a.attach(t, b.set.Rank, c, in)
	b.attach(t, a.set.Rank, d, out)
}

func (r *rank) attach(t failer, peer int, c net.Conn, tags link.Tags) {
	t.Helper()
	r.set.Mu.Lock()
	defer r.set.Mu.Unlock()
	if err := r.set.Attach(r.ends[peer].l, link.Peer{Conn: c, Rank: peer, Host: "peer", Tags: tags}); err != nil {
		t.Fatal(err)
	}
}

// tcpPair returns the ends of a connection.
func tcpPair(t failer) (a, b net.Conn) {
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

// mesh returns n ranks with a link between each two. The caller ends them by stop.
func mesh(t failer, n int, o options) []*rank {
	t.Helper()
	ranks := newRanks(t, n, o)
	for i, a := range ranks {
		for _, b := range ranks[:i] {
			connect(t, a, b, o)
		}
	}
	return ranks
}

// stop ends the ranks as the end of an epoch does.
func stop(ranks ...*rank) {
	for _, r := range ranks {
		r.set.Mu.Lock()
		r.set.Ending = true
		r.set.Wake()
		r.set.Mu.Unlock()
	}
	for _, r := range ranks {
		r.loop.Stop()
		r.loop.Wait()
	}
}

// newPair returns two connected ranks, which end with the test.
func newPair(t *testing.T, o options) (a, b *rank) {
	t.Helper()
	ranks := mesh(t, 2, o)
	t.Cleanup(func() { stop(ranks...) })
	return ranks[0], ranks[1]
}
