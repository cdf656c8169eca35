// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/history"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// TestRun takes a snapshot every half second of virtual time, and ends the streams at its end.
func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, calls := running(2), 0
		p, err := New(Config{Source: func() protocol.ServerStatus { calls++; return src.status() }})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan bool)
		go func() { p.Run(ctx); close(ended) }()
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		c, err := p.add(1)
		if err != nil {
			t.Fatal(err)
		}
		p.View(func(h *history.History, newest protocol.ServerStatus) {
			if j := h.Job(1); j == nil || j.Now != 10*time.Second || newest.Version != "test" || calls != 21 {
				t.Errorf("%d snapshots, job %+v", calls, h.Job(1))
			}
		})
		src.change(func(st *protocol.ServerStatus) { st.Jobs = nil })
		cancel()
		<-ended
		var last []byte
		for msg := range c.out {
			last = msg
		}
		if !strings.Contains(string(last), `"outcome":"unknown"`) {
			t.Errorf("the last message is %s, want the end of the job", last)
		}
		if _, err := p.add(1); err == nil {
			t.Error("a page that has ended accepts a client")
		}
	})
}

// TestHealth answers a probe by the age of the newest snapshot.
func TestHealth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := running(2)
		p, err := New(Config{Source: src.status})
		if err != nil {
			t.Fatal(err)
		}
		probe := func() int {
			w := httptest.NewRecorder()
			p.ServeHTTP(w, httptest.NewRequest("GET", HealthPath, nil))
			return w.Code
		}
		if got := probe(); got != http.StatusServiceUnavailable {
			t.Errorf("before the first snapshot: %d", got)
		}
		p.Tick(time.Now())
		time.Sleep(stale)
		if got := probe(); got != http.StatusOK {
			t.Errorf("after %v: %d", stale, got)
		}
		time.Sleep(2 * time.Second)
		if got := probe(); got != http.StatusServiceUnavailable {
			t.Errorf("after 2 s more: %d", got)
		}
		p.Tick(time.Now())
		if got := probe(); got != http.StatusOK {
			t.Errorf("after another snapshot: %d", got)
		}
	})
}

// TestClientThatDoesNotRead disconnects a client whose connection takes no bytes.
func TestClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	src := running(1000)
	p, err := New(Config{Source: src.status, WriteTimeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	p.Tick(time.Now())
	returned := make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.ServeHTTP(w, r)
		close(returned)
	}))
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET /events?job=1 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	clients := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.hub.n
	}
	deadline := time.After(time.Minute)
	for n := uint64(0); ; n++ {
		src.change(func(st *protocol.ServerStatus) {
			for i := range st.Jobs[0].Ranks {
				st.Jobs[0].Ranks[i].Examples += n
			}
		})
		p.Tick(time.Now())
		select {
		case <-returned:
			if clients() != 0 {
				t.Errorf("%d clients are left", clients())
			}
			return
		case <-deadline:
			t.Fatalf("after a minute the client is still served: %d clients", clients())
		default:
		}
	}
}

// counts returns the counts of a rank with its neighbours in a tree.
func counts(rank int, n uint64) *traffic.Counts {
	c := &traffic.Counts{Times: [traffic.Phases]time.Duration{traffic.Computing: time.Duration(n) * time.Second}, Classes: []traffic.Class{{Sent: 3 * n, Received: 3 * n}}}
	for _, to := range []int{(rank - 1) / 2, 2*rank + 1, 2*rank + 2} {
		c.Edges = append(c.Edges, traffic.Edge{Rank: to, Sent: n, Received: n})
	}
	return c
}

// BenchmarkTick measures a snapshot of a thousand ranks, all of which have changed, with one client.
func BenchmarkTick(b *testing.B) {
	src := running(1000)
	for _, open := range []bool{false, true} {
		b.Run(fmt.Sprintf("open=%v", open), func(b *testing.B) {
			p, err := New(Config{Source: src.status})
			if err != nil {
				b.Fatal(err)
			}
			now := time.Now()
			p.Tick(now)
			var c *client
			if open {
				if c, err = p.add(1); err != nil {
					b.Fatal(err)
				}
				<-c.out
			}
			for b.Loop() {
				src.change(func(st *protocol.ServerStatus) {
					for i := range st.Jobs[0].Ranks {
						st.Jobs[0].Ranks[i].Examples++
						st.Jobs[0].Ranks[i].Traffic = counts(i, st.Jobs[0].Ranks[i].Examples)
					}
					st.Jobs[0].Traffic = st.Jobs[0].Ranks[0].Traffic
				})
				now = now.Add(500 * time.Millisecond)
				p.Tick(now)
				if open {
					b.SetBytes(int64(len(<-c.out)))
				}
			}
		})
	}
}
