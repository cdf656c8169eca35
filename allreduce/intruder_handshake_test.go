// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/sampled"
)

const (
	lastWord = helloSize // offset of the dialer's proof in its bytes
	meetEnd  = helloSize + auth.ProofSize
)

// meets puts f into the way of the first attempt of a rank.
func (s *stage) meets(rank int, f *changer) {
	s.onWay = func(host string, n transport.Network) transport.Network {
		if host != fmt.Sprintf("h%d.1", rank) {
			return n
		}
		f.Network, f.server = n, s.cfg.Server
		return f
	}
}

// TestJobSurvivesChangesOfEachByteOfAHandshake changes each byte of the handshake between two ranks, its
// final message included, and the bytes right after it. A job that recovers must end with its
// model, and lose no attempt.
func TestJobSurvivesChangesOfEachByteOfAHandshake(t *testing.T) {
	const steps = 2
	want := expected(t, 2, steps)
	every := 1
	if testing.Short() {
		every = 5
		t.Log("sampled: every fifth byte")
	}
	for name, creds := range map[string]*auth.Credentials{"nothing": nil, "secret": {Secret: authtest.Secret(t, "a")}} {
		for _, in := range []bool{false, true} {
			for at := 0; at < meetEnd+60; at += every {
				synctest.Test(t, func(t *testing.T) {
					s := newStage(t, 2, steps, Config{Credentials: creds})
					f := &changer{in: in, at: at, bit: 1 << (at % 8)}
					f.left.Store(1)
					s.meets(0, f)
					began := time.Now()
					s.end(want, s.start(0, nil), s.start(1, nil))
					if took := time.Since(began); took > 30*time.Second {
						t.Errorf("it took %v", took)
					}
				})
				if t.Failed() {
					t.Fatalf("%s, from who was called %v, byte %d", name, in, at)
				}
			}
		}
	}
}

// TestLostFinalHandshakeMessage changes or drops the final message of a handshake, and the close
// that follows. One rank then takes the connection for open and the other does not. The job must
// detect this and open another connection, also in a later epoch, in which ranks wait for each
// other without a limit since some are at work.
func TestLostFinalHandshakeMessage(t *testing.T) {
	creds := &auth.Credentials{Secret: authtest.Secret(t, "a")}
	for _, lost := range sampled.Short(t, []int{-1, 0, 1, 2, 3}, 0, 3) {
		for who := range 4 {
			if who == lost {
				continue
			}
			for what, at := range map[string]int{"kept": lastWord, "changed": lastWord + 3} {
				t.Run(fmt.Sprintf("%s on the way from rank %d, with rank %d lost before", what, who, lost), func(t *testing.T) {
					act(t, Config{Credentials: creds}, func(t *testing.T, s *stage, want [32]byte) {
						f := &changer{at: at, bit: 1, hush: true}
						s.meets(who, f)
						began := time.Now()
						if lost < 0 {
							f.left.Store(1)
						}
						all := s.startAll()
						if lost >= 0 {
							time.Sleep(2500 * time.Millisecond)
							f.left.Store(1)
							s.replace(all, lost)
						}
						s.end(want, all...)
						if took := time.Since(began); took > 3*time.Minute {
							t.Errorf("it took %v", took)
						}
						if f.left.Load() > 0 {
							t.Error("no connection has come so far")
						}
					})
				})
			}
		}
	}
}

// TestLostFinalHandshakeMessageAborts checks that the same fault ends a job that does not recover, with
// an error on both ranks.
func TestLostFinalHandshakeMessageAborts(t *testing.T) {
	creds := &auth.Credentials{Secret: authtest.Secret(t, "a")}
	for what, at := range map[string]int{"kept": lastWord, "changed": lastWord + 3} {
		t.Run(what, func(t *testing.T) {
			_, errs := changedJob(t, creds, &changer{at: at, bit: 1, hush: true})
			// Both give up after the same time. The one that is later may hear of the other first.
			for rank, err := range errs {
				waits, told := []string{"waiting for rank 1", "waiting for [rank 0"}[rank], []string{"rank 1 (h1) gave up", "rank 0 (h0) gave up"}[rank]
				if err == nil || !strings.Contains(err.Error(), waits) && !strings.Contains(err.Error(), told) {
					t.Errorf("rank %d ended with %v, want %q or %q", rank, err, waits, told)
				}
			}
		})
	}
}

// TestRankThatNeverConnects keeps one rank from all others again and again. The ranks must not retry
// without a limit: the faults count against the connections, and the job continues with attempts
// on other hosts.
func TestRankThatNeverConnects(t *testing.T) {
	creds := &auth.Credentials{Secret: authtest.Secret(t, "a")}
	for lost := range 4 {
		who := (lost + 1) % 4
		for what, at := range map[string]int{"the first word": 0, "the last word": lastWord} {
			t.Run(fmt.Sprintf("rank %d, %s", who, what), func(t *testing.T) {
				act(t, Config{Credentials: creds}, func(t *testing.T, s *stage, want [32]byte) {
					f := &changer{at: at, hush: true}
					s.meets(who, f)
					all := s.startAll()
					time.Sleep(2500 * time.Millisecond)
					f.left.Store(1 << 30)
					began := time.Now()
					s.replace(all, lost)
					for rank := range all { // a launcher
						s.wait.Go(func() {
							for range 10 {
								if <-all[rank].done; all[rank].err == nil {
									return
								}
								all[rank] = s.start(rank, nil)
							}
						})
					}
					s.end(want, all...)
					if took := time.Since(began); took > 20*time.Minute {
						t.Errorf("it took %v", took)
					}
				})
			})
		}
	}
}
