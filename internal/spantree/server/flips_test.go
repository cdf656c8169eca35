// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// flipper is a network that changes bits of one byte in its first conns connections: a byte that
// this side writes, or one that it reads.
type flipper struct {
	transport.Network
	in    bool
	at    int
	bits  byte
	conns atomic.Int64    // further connections to change
	bytes [2]atomic.Int64 // bytes that this side has written, and read
}

func (f *flipper) Dial(ctx context.Context, addr string) (net.Conn, error) {
	c, err := f.Network.Dial(ctx, addr)
	if err != nil || f.conns.Add(-1) < 0 {
		return c, err
	}
	return &flippedConn{Conn: c, f: f}, nil
}

type flippedConn struct {
	net.Conn
	f     *flipper
	moved [2]int // bytes written, by the writer, and read, by the reader
}

// pass counts the bytes of one direction, and changes the byte that is to be changed.
func (c *flippedConn) pass(in bool, b []byte) {
	way := 0
	if in {
		way = 1
	}
	if at := c.f.at - c.moved[way]; in == c.f.in && at >= 0 && at < len(b) {
		b[at] ^= c.f.bits
	}
	c.moved[way] += len(b)
	c.f.bytes[way].Add(int64(len(b)))
}

func (c *flippedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.pass(true, b[:n])
	return n, err
}

func (c *flippedConn) Write(b []byte) (int, error) {
	b = append([]byte(nil), b...)
	c.pass(false, b)
	return c.Conn.Write(b)
}

// credentialKinds returns makers of the credentials that ranks and servers may share. Each
// bubble makes its own, since the validity of certificates follows the bubble's clock.
func credentialKinds(t *testing.T) map[string]func() (server, rank *auth.Credentials) {
	secret := authtest.Secret(t, goodSecret)
	return map[string]func() (server, rank *auth.Credentials){
		"nothing": func() (server, rank *auth.Credentials) { return nil, nil },
		"a secret": func() (server, rank *auth.Credentials) {
			c := &auth.Credentials{Secret: secret}
			return c, c
		},
		"a secret, encrypted": func() (server, rank *auth.Credentials) {
			c := &auth.Credentials{Secret: secret, TLS: authtest.Ephemeral(t)}
			return c, c
		},
		"certificates": func() (server, rank *auth.Credentials) {
			site, now := authtest.NewSite(t), time.Now()
			return &auth.Credentials{TLS: site.TLS("the server", now, "gateway")}, &auth.Credentials{TLS: site.TLS("a rank", now)}
		},
	}
}

// joinsFlipped joins two ranks, the first over f, and wires their job. It returns how many
// bytes the first rank had written and read when it had joined.
func joinsFlipped(t *testing.T, server, rank *auth.Credentials, onLoss protocol.OnLoss, f *flipper) (bytes [2]int) {
	t.Helper()
	n := mem.New()
	l, err := n.Host("gateway").Listen(t.Context(), ":26543")
	if err != nil {
		t.Fatal(err)
	}
	r := serveOn(t, ServerConfig{Credentials: server}, l)
	f.Network = n.Host("h0")
	if f.conns.Load() == 0 {
		f.conns.Store(1)
	}
	began := time.Now()
	var ranks sync.WaitGroup
	for i := range 2 {
		ranks.Go(func() {
			cfg := simConfig(n, protocol.Job{UniqueID: 1}, i, 2)
			cfg.Credentials, cfg.OnLoss = rank, onLoss
			if i == 0 {
				cfg.Network = f
			}
			m, err := client.Join(t.Context(), cfg)
			if err != nil {
				t.Errorf("rank %d: %v", i, err)
				_ = r.s.Close() // the other rank would wait for this one
				return
			}
			if i == 0 {
				bytes = [2]int{int(f.bytes[0].Load()), int(f.bytes[1].Load())}
			}
			w, err := m.Ready(t.Context(), protocol.Shard{})
			if err != nil || w.Stream || len(w.Members) != 2 {
				t.Errorf("rank %d: wiring %+v, %v; want both ranks, natively", i, w, err)
			}
			_, err = m.Complete(t.Context(), [32]byte{1}, nil)
			if err := errors.Join(err, m.Finish(t.Context()), m.Close()); err != nil {
				t.Errorf("rank %d: %v", i, err)
			}
		})
	}
	ranks.Wait()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	r.close()
	return bytes
}

// flipSteps are the distances of the changed bytes, by credentials. A TLS handshake has many bytes
// and takes milliseconds, so only some of its bytes are changed.
var flipSteps = map[string]int{"nothing": 1, "a secret": 1, "a secret, encrypted": 29, "certificates": 43}

// flipBits are the masks that each byte is changed by; 0: one bit, which depends on the offset.
var flipBits = []byte{0}

// If any byte of a handshake with the server is changed on the way, in either direction, the rank
// makes another attempt and joins.
func TestRankJoinsDespiteAnyChangedByte(t *testing.T) {
	apart := 1
	if sampled.UnderRace { // under the race detector, where all bytes take ten times as long
		apart = 11 // not a multiple of 8, so that all bits are changed
		t.Logf("left out: all but one of %d of the bytes", apart)
	}
	for name, creds := range credentialKinds(t) {
		for _, onLoss := range []protocol.OnLoss{protocol.Abort, protocol.Wait} {
			t.Run(fmt.Sprintf("%s, %v", name, onLoss), func(t *testing.T) {
				t.Parallel()
				var all [2]int
				synctest.Test(t, func(t *testing.T) {
					server, rank := creds()
					all = joinsFlipped(t, server, rank, onLoss, &flipper{at: -1})
				})
				if all[0] < protocol.HelloSize || all[1] < protocol.FrameHeader {
					t.Fatalf("%v bytes were written and read without a change, want at least a hello and a frame", all)
				}
				for way, bytes := range all {
					for at := 0; at < bytes; at += apart * max(1, flipSteps[name]) {
						for _, bits := range flipBits {
							if bits == 0 {
								bits = 1 << (at % 8)
							}
							synctest.Test(t, func(t *testing.T) {
								server, rank := creds()
								joinsFlipped(t, server, rank, onLoss, &flipper{in: way == 1, at: at, bits: bits})
							})
							if t.Failed() {
								t.Fatalf("byte %d of %d, bits %#x, read: %v", at, bytes, bits, way == 1)
							}
						}
					}
				}
			})
		}
	}
}

// A rank of a job that recovers never becomes a vw worker. Its hello is changed repeatedly, so that
// the server takes it for a vw worker and refuses it. The rank retries the native protocol.
func TestNativeRankNeverJoinsAsVWWorker(t *testing.T) {
	for at := range protocol.HelloSize {
		synctest.Test(t, func(t *testing.T) {
			f := &flipper{at: at, bits: 1}
			f.conns.Store(2)
			joinsFlipped(t, nil, nil, protocol.Wait, f)
		})
		if t.Failed() {
			t.Fatalf("byte %d of the hello", at)
		}
	}
}
