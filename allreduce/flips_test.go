// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/allreduce/transport"
)

// changer is a network with a bit that changes, in the first connection that this side opens
// to another rank: one of what it writes, or of what it reads.
type changer struct {
	transport.Network
	server string // that is spared
	in     bool
	at     int // byte
	bit    byte
	hush   bool         // after that byte nothing passes any more in either direction, not even an end
	left   atomic.Int64 // connections to change, or to hush: those that come so far
	total  atomic.Int64 // bytes that went by there, changed or not
}

func (f *changer) Dial(ctx context.Context, addr string) (net.Conn, error) {
	c, err := f.Network.Dial(ctx, addr)
	if err != nil || addr == f.server || !f.hush && f.left.Add(-1) < 0 {
		return c, err
	}
	return &changedConn{Conn: c, f: f}, nil
}

type changedConn struct {
	net.Conn
	f      *changer
	wrote  int         // of the writing goroutine
	hushed atomic.Bool // nothing passes any more
}

// change flips the bit if it is in b, which begins where the last one has ended.
func (c *changedConn) change(b []byte) {
	from := c.f.total.Add(int64(len(b))) - int64(len(b))
	if at := int64(c.f.at) - from; at >= 0 && at < int64(len(b)) {
		b[at] ^= c.f.bit
	}
}

// Read returns nothing more from a hushed connection until this side closes it or its deadline
// is over.
func (c *changedConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if c.f.in {
			c.change(b[:n])
		}
		if !c.hushed.Load() || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (c *changedConn) Write(b []byte) (int, error) {
	n, whole := len(b), c.wrote >= c.f.at
	if c.wrote += n; c.f.hush && c.wrote > c.f.at && !c.hushed.Load() {
		if c.f.left.Add(-1) < 0 {
			return c.Conn.Write(b)
		}
		c.hushed.Store(true)
		if !whole {
			b = append([]byte(nil), b...)
			b[c.f.at-(c.wrote-n)] ^= c.f.bit
			return c.Conn.Write(b)
		}
	}
	switch {
	case c.hushed.Load():
		return n, nil
	case c.f.in, c.f.hush:
		return c.Conn.Write(b)
	}
	b = append([]byte(nil), b...)
	c.change(b)
	return c.Conn.Write(b)
}

// changedJob sums three parts over two ranks, of which one is late, so that there are signs
// of life, too. It returns how many bytes went by where the changer is.
func changedJob(t *testing.T, creds *auth.Credentials, f *changer) (bytes int, errs []error) {
	synctest.Test(t, func(t *testing.T) {
		j, n := newMemJob(t, 2, Config{Credentials: creds, Chunk: 128, Stall: time.Second, MaxWait: 20 * time.Second, DialTimeout: 20 * time.Second})
		f.Network, f.server = n.Host("h0"), j.server
		f.left.Store(1)
		j.reroute(0, func(transport.Network) transport.Network { return f })
		began := time.Now()
		errs = j.all(func(rank int) error {
			g := j.groups[rank]
			if err := g.Ready(ctx, Shard{}); err != nil {
				return err
			}
			time.Sleep(time.Duration(rank) * 300 * time.Millisecond)
			v := make([]float32, 96)
			for i := range v {
				v[i] = float32(i) // no two parts are alike
			}
			if err := g.AllReduce(ctx, Vec(v), Sum); err != nil {
				return err
			}
			for i, x := range v {
				if x != 2*float32(i) {
					t.Errorf("element %d is %v", i, x)
				}
			}
			return nil
		})
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("it took %v", took)
		}
		bytes = int(f.total.Load())
	})
	return bytes, errs
}

// TestEveryByteBetweenRanks changes each byte between two ranks in turn: in the handshake, a
// header, a tag and the data. No sum may be wrong, and no rank may hang. A failed handshake is
// repeated, except after a corrupt final message: its sender takes the close that follows for
// the loss of the other rank. With a secret, every change after the handshake is detected.
func TestEveryByteBetweenRanks(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 7
		t.Log("sampled: one in seven bytes")
	}
	const greeting = helloSize + auth.ProofSize
	for name, creds := range map[string]*auth.Credentials{"nothing": nil, "secret": {Secret: authtest.Secret(t, "a")}} {
		for _, in := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, from who was called %v", name, in), func(t *testing.T) {
				all, errs := changedJob(t, creds, &changer{in: in, at: -1})
				if err := errors.Join(errs...); err != nil || all < greeting+3*128 {
					t.Fatalf("with nothing changed: %d bytes, %v", all, err)
				}
				again := helloSize
				if in {
					again = greeting
				}
				for at := 0; at < all; at += step {
					_, errs := changedJob(t, creds, &changer{in: in, at: at, bit: 1 << (at % 8)})
					err := errors.Join(errs...)
					switch {
					case at < again && err != nil:
						t.Errorf("byte %d of the greeting: %v, want another greeting", at, err)
					case at >= again && at < greeting && slices.ContainsFunc(errs, func(err error) bool { return err == nil || !strings.Contains(err.Error(), "rank 1") }):
						t.Errorf("byte %d of the last word: %v, want an error on both ranks that names who has hung up", at, errs)
					case at >= greeting && creds != nil && err == nil:
						t.Errorf("byte %d: no rank has detected the change", at)
					}
					if t.Failed() {
						t.Fatalf("byte %d of %d", at, all)
					}
				}
			})
		}
	}
}
