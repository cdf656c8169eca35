// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/link/netconn"
)

// rank is an owner with one link: it sends chunks and receives chunks, in order.
type rank struct {
	set  link.Set
	l    *link.Link
	send [][]byte      // chunks that are still to be written
	sums int           // checksums that were computed
	got  [][]byte      // chunks that have arrived
	want int           // how many are expected
	hold bool          // the next chunk must wait for release
	done chan struct{} // capacity 1: everything is sent and received
	fail chan error    // capacity 1
}

func (r *rank) LinkFailed(_ *link.Link, err error) { r.fail <- err }
func (r *rank) Announce()                          {}

func (r *rank) Call(payload []byte) (link.Verdict, error) {
	if string(payload) != "call" {
		return link.Take, link.Corrupt("call %q", payload)
	}
	return link.Take, nil
}

func (r *rank) Progress([]byte) error      { return nil }
func (r *rank) Fault(payload []byte) error { return errors.New(string(payload)) }

func (r *rank) Expect(n int) ([]byte, link.Verdict, error) {
	switch {
	case r.hold:
		return nil, link.Wait, nil
	case len(r.got) == r.want:
		return nil, link.Take, link.Corrupt("one chunk too many, of %d bytes", n)
	case n == 0:
		return nil, link.Take, nil
	}
	return make([]byte, n), link.Take, nil
}

func (r *rank) Received(data []byte, _ link.Frame) link.Verdict {
	r.set.Mu.Lock()
	defer r.set.Mu.Unlock()
	r.got = append(r.got, append([]byte{}, data...))
	r.progress()
	return link.Take
}

func (r *rank) Due() bool { return true }

func (r *rank) Next() (c link.Chunk, ok bool) {
	if len(r.send) == 0 {
		return c, false
	}
	c.Data = r.send[0]
	if len(r.send)%3 == 0 {
		c.Call = []byte("call")
	}
	if len(r.send)%2 == 0 {
		c.Sum, c.Summed = crc32c.Checksum(c.Data), true
	}
	return c, true
}

func (r *rank) Summed(uint32) { r.sums++ }

func (r *rank) Written() {
	r.set.Mu.Lock()
	defer r.set.Mu.Unlock()
	r.send = r.send[1:]
	r.l.Wake()
	r.progress()
}

func (r *rank) Sign() (byte, []byte) { return 0, nil }
func (r *rank) SharesMemory() bool   { return false }
func (r *rank) InUse() bool          { return true }

func (r *rank) progress() {
	if len(r.send) == 0 && len(r.got) == r.want {
		r.done <- struct{}{}
	}
}

// newRank returns a rank whose link uses c.
func newRank(t *testing.T, number int, c net.Conn, tags link.Tags, send [][]byte, want int, hold bool) *rank {
	t.Helper()
	r := &rank{send: send, want: want, hold: hold, done: make(chan struct{}, 1), fail: make(chan error, 1)}
	r.set.Rank, r.set.Owner, r.set.Log, r.set.Failed = number, r, slog.New(slog.DiscardHandler), make(chan struct{})
	d := netconn.New(&r.set)
	r.set.Driver = d
	r.l = link.New(link.Peer{Rank: 1 - number}, r)
	r.set.Mu.Lock()
	err := r.set.Attach(r.l, link.Peer{Conn: c, Rank: 1 - number, Host: "peer", Tags: tags})
	r.set.Mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
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

// tags returns the tags of both ends of a link.
func tags(on bool) (a, b link.Tags) {
	if !on {
		return a, b
	}
	key := (*auth.Secret)(nil).Epoch(auth.Scope{})
	x := key.Exchange([]byte("hello"))
	return link.TagsOf(x, auth.Client), link.TagsOf(x, auth.Server)
}

// TestChunksArriveInOrder sends random chunks of all sizes over a link in both directions at once,
// with checksums and with tags, also if one end is not ready for the first one.
func TestChunksArriveInOrder(t *testing.T) {
	for _, tagged := range []bool{false, true} {
		t.Run(fmt.Sprint("tags ", tagged), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			var data [2][][]byte
			for i := range data {
				for range 30 {
					b := make([]byte, rng.IntN(1<<(1+rng.IntN(17))))
					for k := range b {
						b[k] = byte(rng.Uint32())
					}
					data[i] = append(data[i], b)
				}
			}
			c, d := net.Pipe()
			in, out := tags(tagged)
			a := newRank(t, 0, c, in, data[0], len(data[1]), false)
			b := newRank(t, 1, d, out, data[1], len(data[0]), true)
			b.set.Mu.Lock()
			b.hold = false
			b.set.Wake()
			b.set.Mu.Unlock()
			for i, r := range []*rank{a, b} {
				r.set.Driver.Carry(context.Background(), r.done, []*link.Link{r.l})
				r.set.Mu.Lock()
				if !slices.EqualFunc(data[1-i], r.got, bytes.Equal) {
					t.Errorf("rank %d: got %d chunks, other than the %d that were sent", i, len(r.got), len(data[1-i]))
				}
				if r.sums > 15 || tagged && r.sums > 0 {
					t.Errorf("rank %d: %d checksums were computed", i, r.sums)
				}
				r.set.Mu.Unlock()
			}
		})
	}
}

// TestFlippedBitIsNoticed checks that the peer reports corrupt bytes after the fault that flips a
// bit of a chunk.
func TestFlippedBitIsNoticed(t *testing.T) {
	for _, tagged := range []bool{false, true} {
		c, d := net.Pipe()
		in, out := tags(tagged)
		b := newRank(t, 1, d, out, nil, 1, false)
		a := newRank(t, 0, c, in, nil, 0, false)
		a.set.FlipNext()
		a.set.Mu.Lock()
		a.send = [][]byte{make([]byte, 1000)}
		a.set.Wake()
		a.set.Mu.Unlock()
		if _, corrupt := errors.AsType[*link.CorruptError](<-b.fail); !corrupt {
			t.Errorf("tags %v: the peer does not report corrupt bytes", tagged)
		}
	}
}

// TestLastFrameReachesThePeer checks that a set that fails sends the reason as the last frame of
// each link.
func TestLastFrameReachesThePeer(t *testing.T) {
	c, d := net.Pipe()
	a := newRank(t, 0, c, link.Tags{}, nil, 0, false)
	b := newRank(t, 1, d, link.Tags{}, nil, 0, false)
	a.set.Mu.Lock()
	a.set.Seal([]byte("no space left"), nil)
	a.set.Mu.Unlock()
	a.set.Driver.FlushErrors()
	if err := <-b.fail; err.Error() != "no space left" {
		t.Errorf("got %v", err)
	}
	a.set.Driver.Stop()
	if !a.set.Over() || !a.set.Down() {
		t.Error("a sealed set is not over")
	}
}

// TestEndOfTheConnection checks that the end of the peer is a BrokenError.
func TestEndOfTheConnection(t *testing.T) {
	c, d := net.Pipe()
	a := newRank(t, 0, c, link.Tags{}, nil, 0, false)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, broken := errors.AsType[*link.BrokenError](<-a.fail); !broken {
		t.Error("the end of the connection is not reported")
	}
}
