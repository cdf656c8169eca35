// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// stallIn is the stall time-out of the following jobs.
const stallIn = 20 * time.Second

// dropping is the network of a host whose packets to some hosts are dropped.
type dropping struct {
	transport.Network
	to    string    // hosts, by the beginning of their names, separated by spaces
	until time.Time // zero: for good
	after func()    // called on a connection to them: it opens and carries nothing; nil: it does not open
}

func (d dropping) Dial(ctx context.Context, address string) (net.Conn, error) {
	for _, host := range strings.Fields(d.to) {
		if !strings.HasPrefix(address, host) || !d.until.IsZero() && time.Now().After(d.until) {
			continue
		}
		if d.after == nil {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		c, err := d.Network.Dial(ctx, address)
		d.after()
		return c, err
	}
	return d.Network.Dial(ctx, address)
}

// drops puts a dropping network in the way of a host's connections.
func (s *stage) drops(from, to string, lasts time.Duration, after func()) {
	var until time.Time
	if lasts > 0 {
		until = time.Now().Add(lasts)
	}
	before := s.onWay
	s.onWay = func(host string, n transport.Network) transport.Network {
		if before != nil {
			n = before(host, n)
		}
		if strings.HasPrefix(host, from) {
			return dropping{n, to, until, after}
		}
		return n
	}
}

// TestAnotherSource: a rank that does not reach the source of the state takes it from another
// rank, within the stall time-out, and the log names the wait within 15 s. The link is mended later,
// since collectives need it.
func TestAnotherSource(t *testing.T) {
	for _, opens := range []bool{false, true} {
		act(t, Config{Stall: stallIn}, func(t *testing.T, s *stage, want [32]byte) {
			var after func()
			if opens {
				after = func() {
					s.net.Part("h0.1", "h2.2", true)
					s.wait.Go(func() {
						time.Sleep(stallIn + 5*time.Second)
						s.net.Part("h0.1", "h2.2", false)
					})
				}
			}
			s.drops("h2.2", "h0.", stallIn+8*time.Second, after)
			all := s.startAll()
			time.Sleep(2500 * time.Millisecond)
			all[2].kill()
			began := time.Now()
			all[2] = s.start(2, nil)
			time.Sleep(15 * time.Second)
			if said := s.logs["h2.2"].String(); !strings.Contains(said, `msg="waiting outside collectives" rank=2`) || !strings.Contains(said, `for="the state of step 2 from rank 0`) {
				t.Errorf("after 15 s the log does not say what rank 2 waits for:\n%s", said)
			}
			s.end(want, all...)
			if took := time.Since(began); took > 2*(stallIn+openWithin) {
				t.Errorf("the job has ended %v after the loss, want about %v", took, stallIn)
			}
			if said := s.logs["h1.1"].String(); !strings.Contains(said, "sent what a rank lacked") {
				t.Errorf("rank 1 has not become the source:\n%s", said)
			}
		})
	}
}

// loseInTheEnding starts four ranks, and returns when one of them was killed after the last step.
func (s *stage) loseInTheEnding(lost int) []*actor {
	var all []*actor
	for r := range 4 {
		all = append(all, s.start(r, func(a *actor) {
			a.toy.at = func(_ int, at string) {
				if r == lost && at == "finish" {
					time.Sleep(100 * time.Millisecond) // the others leave the last collective
					a.kill()
				}
			}
		}))
	}
	<-all[lost].done
	return all
}

// TestAnotherSourceInTheEnding: so does one whose source has completed the job.
func TestAnotherSourceInTheEnding(t *testing.T) {
	act(t, Config{Stall: stallIn}, func(t *testing.T, s *stage, want [32]byte) {
		s.drops("h2.2", "h0.", 0, nil)
		all := s.loseInTheEnding(2)
		began := time.Now()
		all[2] = s.start(2, nil)
		s.wait.Wait()
		if finished(all[2].err) {
			all[2].err, all[2].model = nil, want
		}
		s.end(want, all...)
		if took := time.Since(began); took > stallIn+15*time.Second {
			t.Errorf("the job has ended %v after the loss, want about %v", took, stallIn)
		}
	})
}

// TestNoSource: an attempt that reaches no rank that has the state is evicted. Another one on
// a host with a network takes its place.
func TestNoSource(t *testing.T) {
	act(t, Config{Stall: stallIn}, func(t *testing.T, s *stage, want [32]byte) {
		s.drops("h3.2", "h0. h1. h2.", 0, nil)
		all := s.startAll()
		time.Sleep(2500 * time.Millisecond)
		all[3].kill()
		alone := s.start(3, nil)
		<-alone.done
		no, ok := errors.AsType[*RefusedError](alone.err)
		if !ok || no.Code != protocol.AttemptFenced || !strings.Contains(no.Reason, "rank 0 (h0.1), rank 1 (h1.1), rank 2 (h2.1)") {
			t.Errorf("the attempt that reaches no rank ended with %v, want that it is fenced, with the ranks named", alone.err)
		}
		all[3] = s.start(3, nil)
		s.end(want, all...)
	})
}

// TestHostWithoutPeers checks that a rank whose host reaches only the server, from the first
// epoch on, is evicted after twice the stall time-out, and not a peer of it. The attempt that
// stands by on another host takes its place, also if the host of the first one starts another.
func TestHostWithoutPeers(t *testing.T) {
	const stall = 3 * time.Second
	for cut := range 4 {
		act(t, Config{Stall: stall}, func(t *testing.T, s *stage, want [32]byte) {
			for peer := range 4 {
				if peer != cut {
					s.net.Part(fmt.Sprintf("h%d.1", peer), fmt.Sprintf("h%d.1", cut), true)
				}
			}
			all := s.startAll()
			began := time.Now()
			time.Sleep(time.Second)
			first := all[cut]
			all[cut] = s.start(cut, nil)
			s.end(want, all...)
			took := time.Since(began)
			if no, ok := errors.AsType[*RefusedError](first.err); !ok || no.Code != protocol.AttemptFenced {
				t.Errorf("rank %d, which reaches no other rank, ended with %v, want that it is fenced", cut, first.err)
			}
			if took > 5*stall+5*time.Second {
				t.Errorf("without rank %d's host the job ended after %v", cut, took)
			}
		})
	}
}

// TestLinkThatStaysBroken: collectives need the link. Every attempt of its ends is started again,
// and the job ends by the name of the link, in a time that follows from the stall time-out.
func TestLinkThatStaysBroken(t *testing.T) {
	act(t, Config{Stall: stallIn}, func(t *testing.T, s *stage, _ [32]byte) {
		s.drops("h3.", "h0.", 0, nil)
		all := s.startAll()
		began := time.Now()
		for _, a := range all {
			s.wait.Go(func() { // a supervisor
				for {
					<-a.done
					if no, ok := errors.AsType[*RefusedError](a.err); !ok || no.Code != protocol.AttemptFenced {
						return
					}
					time.Sleep(time.Second)
					a = s.start(a.rank, nil)
				}
			})
		}
		s.wait.Wait()
		if took := time.Since(began); took > 10*(stallIn+openWithin) {
			t.Errorf("the job has ended after %v", took)
		}
		for _, rank := range []int{1, 2} {
			if err := all[rank].err; err == nil || !strings.Contains(err.Error(), "rank 3") || !strings.Contains(err.Error(), "rank 0") || !strings.Contains(err.Error(), "charges of edges: 0 (h0.1) – 3 (h3.1): 2") {
				t.Errorf("rank %d ended with %v, want the link between ranks 0 and 3 named", rank, err)
			}
		}
	})
}

// openWithin is what the server gives two ranks to open a connection.
const openWithin = 20 * time.Second
