// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/epoch"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/link"
)

const (
	attackedSum  = 40_000 // elements: ten parts
	attackedPart = 16 << 10
)

// attackedJob is an all-reduce of two ranks. An intruder is on the connection, which the first
// rank opens. The second rank uses driver d.
func attackedJob(t *testing.T, creds *auth.Credentials, d epoch.Driver, i *intruder) (errs []error, wrong bool) {
	t.Helper()
	server := startGuarded(t, transport.TCP, "127.0.0.1:0", creds)
	i.Network, i.server = transport.TCP, server
	nets := []transport.Network{i, transport.TCP}
	within, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	errs = make([]error, 2)
	sums := make([][]float32, 2)
	var ranks sync.WaitGroup
	for rank := range nets {
		ranks.Go(func() {
			g, err := Join(within, Config{
				Server: server, Job: Job{UniqueID: 7}, Rank: rank, Total: 2, Network: nets[rank], Listen: "127.0.0.1:0",
				Credentials: creds, driver: []epoch.Driver{epoch.Conn, d}[rank], Chunk: attackedPart, NoSharedMemory: true, Stall: time.Second,
			})
			if err != nil {
				errs[rank] = err
				return
			}
			t.Cleanup(func() { g.Close() }) // not before the others are through
			v := make([]float32, attackedSum)
			for k := range v {
				v[k] = float32(k) // no two parts are alike
			}
			if errs[rank] = g.AllReduce(within, Vec(v), Sum); errs[rank] == nil {
				sums[rank] = v
			}
		})
	}
	ranks.Wait()
	if within.Err() != nil {
		t.Error("no rank returned in time")
	}
	for _, v := range sums {
		for k, x := range v {
			wrong = wrong || x != 2*float32(k)
		}
	}
	return errs, wrong
}

// once does something to the n-th data frame of the first connection, from 0. The frames
// that follow it are for then, if it is given.
func once(n int, do, then func(f wireFrame) [][]byte) func(int, wireFrame) [][]byte {
	return func(conn int, f wireFrame) [][]byte {
		if conn != 0 || f.kind() != link.FrameData {
			return [][]byte{f}
		}
		n--
		switch {
		case n == -1:
			return do(f)
		case n == -2 && then != nil:
			return then(f)
		}
		return [][]byte{f}
	}
}

// changed is once for a frame that becomes another.
func changed(n int, to func(f wireFrame) wireFrame) func(int, wireFrame) [][]byte {
	return once(n, func(f wireFrame) [][]byte { return [][]byte{to(f)} }, nil)
}

const attackedFrame = 3

// Without a secret an intruder can change sums. The test shows that the intruder of the other
// tests is able to do so, and thus that tags are needed.
func TestIntruderWithoutASecret(t *testing.T) {
	i := &intruder{head: link.FrameSize, meddle: changed(attackedFrame, func(f wireFrame) wireFrame { return f.flipped(link.FrameSize + 2).fit() })}
	errs, wrong := attackedJob(t, nil, epoch.Auto, i)
	if err := errors.Join(errs...); err != nil || !wrong {
		t.Errorf("a sum was not changed: %v", err)
	}
}

// With a secret neither driver accepts any change by an intruder, and no rank hangs.
func TestIntruderWithASecret(t *testing.T) {
	creds := &auth.Credentials{Secret: authtest.Secret(t, "a")}
	record := &intruder{head: link.TagFrameSize, meddle: listens}
	if errs, wrong := attackedJob(t, creds, epoch.Auto, record); errors.Join(errs...) != nil || wrong {
		t.Fatalf("an intruder that only listens: %v", errs)
	}
	attacks := map[string]func(i *intruder) func(int, wireFrame) [][]byte{
		"twice": func(*intruder) func(int, wireFrame) [][]byte {
			return once(attackedFrame, func(f wireFrame) [][]byte { return [][]byte{f, f} }, nil)
		},
		"left out": func(*intruder) func(int, wireFrame) [][]byte {
			return once(attackedFrame, func(wireFrame) [][]byte { return nil }, nil)
		},
		"swapped": func(*intruder) func(int, wireFrame) [][]byte {
			var kept wireFrame
			return once(attackedFrame, func(f wireFrame) [][]byte { kept = f; return nil }, func(f wireFrame) [][]byte { return [][]byte{f, kept} })
		},
		"an older one": func(i *intruder) func(int, wireFrame) [][]byte {
			return changed(attackedFrame, func(wireFrame) wireFrame { return i.wrote[0] })
		},
		"of the other direction": func(i *intruder) func(int, wireFrame) [][]byte {
			return changed(attackedFrame, func(f wireFrame) wireFrame {
				if len(i.heard) == 0 {
					return f.flipped(8) // the other side had nothing to say yet
				}
				return i.heard[min(attackedFrame, len(i.heard)-1)]
			})
		},
		"of another conversation": func(*intruder) func(int, wireFrame) [][]byte {
			return changed(attackedFrame, func(wireFrame) wireFrame { return record.wrote[attackedFrame] })
		},
		"all of another conversation": func(*intruder) func(int, wireFrame) [][]byte {
			n := -1
			return func(_ int, f wireFrame) [][]byte {
				if f.kind() == link.FrameData {
					n++
					return [][]byte{record.wrote[n]}
				}
				return [][]byte{f}
			}
		},
		"with a checksum": func(*intruder) func(int, wireFrame) [][]byte {
			return changed(attackedFrame, func(f wireFrame) wireFrame {
				return link.AppendFrame(nil, link.FrameData, wireFrame(f[link.TagFrameSize:]).flipped(2))
			})
		},
	}
	// Every byte of the header, of the tag the ends, and of the bytes that follow some.
	for _, at := range []int{0, 1, 2, 3, 4, 5, 6, 7, link.LeadSize, link.TagFrameSize - 1, link.TagFrameSize, link.TagFrameSize + 5000, link.TagFrameSize + attackedPart - 1} {
		attacks[fmt.Sprintf("byte %d of a part", at)] = func(*intruder) func(int, wireFrame) [][]byte {
			return changed(attackedFrame, func(f wireFrame) wireFrame { return f.flipped(at) })
		}
	}
	for _, at := range []int{0, 1, 3, 4, link.LeadSize + 3, link.TagFrameSize, link.TagFrameSize + 8, link.TagFrameSize + 20, link.TagFrameSize + engine.CallFixed - 1} {
		attacks[fmt.Sprintf("byte %d of a call", at)] = func(*intruder) func(int, wireFrame) [][]byte {
			return func(conn int, f wireFrame) [][]byte {
				if conn == 0 && f.kind() == link.FrameCall {
					f = f.flipped(at)
				}
				return [][]byte{f}
			}
		}
	}
	for name, attack := range attacks {
		for _, d := range []epoch.Driver{epoch.Auto, epoch.Conn} {
			t.Run(fmt.Sprint(name, " driver ", d), func(t *testing.T) {
				t.Parallel()
				i := &intruder{head: link.TagFrameSize}
				i.meddle = attack(i)
				errs, wrong := attackedJob(t, creds, d, i)
				if wrong {
					t.Error("a sum was changed")
				}
				if errs[1] == nil {
					t.Error("the rank behind the intruder has noticed nothing")
				}
			})
		}
	}
}

// A job that recovers survives an intruder: the epoch ends, and the next one has a new key.
func TestJobSurvivesAnIntruder(t *testing.T) {
	creds := &auth.Credentials{Secret: authtest.Secret(t, "a")}
	var kept wireFrame
	for name, meddle := range map[string]func(int, wireFrame) [][]byte{
		"a bit":    changed(attackedFrame, func(f wireFrame) wireFrame { return f.flipped(link.TagFrameSize + 2) }),
		"twice":    once(attackedFrame, func(f wireFrame) [][]byte { return [][]byte{f, f} }, nil),
		"left out": once(attackedFrame, func(wireFrame) [][]byte { return nil }, nil),
		"swapped": once(attackedFrame, func(f wireFrame) [][]byte { kept = f; return nil }, func(f wireFrame) [][]byte {
			return [][]byte{f, kept}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			act(t, Config{Credentials: creds}, func(t *testing.T, s *stage, want [32]byte) {
				var met *intruder
				s.onWay = func(host string, n transport.Network) transport.Network {
					if host != "h0.1" {
						return n
					}
					met = &intruder{Network: n, server: s.cfg.Server, head: link.TagFrameSize, meddle: meddle}
					return met
				}
				s.end(want, s.startAll()...)
				if met.conns < 2 {
					t.Errorf("rank 0 has opened %d connections, want another one after the intruder", met.conns)
				}
			})
		})
	}
}

// A transfer of the state is sealed: a corrupt transfer is repeated.
func TestIntruderWhereARankTakesTheState(t *testing.T) {
	creds := &auth.Credentials{Secret: authtest.Secret(t, "a")}
	act(t, Config{Credentials: creds}, func(t *testing.T, s *stage, want [32]byte) {
		spoilt, newest := -1, -1
		s.onWay = func(host string, n transport.Network) transport.Network {
			if host != "h2.2" {
				return n
			}
			return &intruder{Network: n, server: s.cfg.Server, head: link.TagFrameSize, meddle: listens, spoil: func(conn int, b []byte) {
				newest = conn
				if len(b) == link.FrameSize && spoilt < 0 { // a frame's header, of which no checksum covers the end
					b[link.FrameSize-1] ^= 4
					spoilt = conn
				}
			}}
		}
		all := s.startAll()
		time.Sleep(2500 * time.Millisecond)
		s.replace(all, 2)
		s.end(want, all...)
		if spoilt < 0 || newest == spoilt {
			t.Errorf("connection %d was changed, and the state was taken over connection %d, want a later one", spoilt, newest)
		}
	})
}
