// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport/mem"
)

// TestStoppedVWWorker: a vw worker that is stopped outside a collective sends nothing, like one at
// work. Its neighbour gives it up after a limit, and by Stall if bytes of the collective had come.
func TestStoppedVWWorker(t *testing.T) {
	const length = 1 << 20 // more than a connection holds
	for name, c := range map[string]struct {
		calls  int           // that the worker takes part in
		work   time.Duration // of both before each call
		slower time.Duration // how much longer the worker takes
		part   int           // bytes of the next vector that it sends
		after  time.Duration // how long the next call lasts; 0: there is none
		words  string
	}{
		"before the first call":          {after: 10 * time.Minute, words: "sent nothing in the collective"},
		"before the second call":         {calls: 1, after: 10 * time.Minute, words: "sent nothing in the collective"},
		"where calls are rare":           {calls: 1, work: time.Hour, after: 20 * time.Hour, words: "sent nothing in the collective"},
		"early in a call":                {calls: 1, part: 100, after: time.Minute, words: "no byte moved"},
		"when it is to read the results": {calls: 1, part: 4 * length, after: time.Minute, words: "no byte moved"},
		"not, but at work":               {calls: 2, slower: 9 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := mem.New()
				g := streamGroup(t, n, 1, 2, "", 1)
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					time.Sleep(time.Second)
					conn, err := n.Host("vw").Dial(context.Background(), "h1:26544")
					if err != nil {
						t.Error(err)
						return
					}
					b := make([]byte, 4*length)
					for range c.calls {
						time.Sleep(c.work + c.slower)
						if _, err := conn.Write(b); err != nil {
							t.Error(err)
						}
						if _, err := io.ReadFull(conn, b); err != nil {
							t.Error(err)
						}
					}
					time.Sleep(c.work)
					if _, err := conn.Write(b[:c.part]); err != nil {
						t.Error(err)
					}
				}()
				v := make([]float32, length)
				if err := g.ready(ctx); err != nil {
					t.Fatal(err)
				}
				for range c.calls {
					time.Sleep(c.work)
					if err := g.AllReduce(ctx, Vec(v), Sum); err != nil {
						t.Fatal(err)
					}
				}
				if c.after > 0 {
					time.Sleep(c.work)
					began := time.Now()
					err := g.AllReduce(ctx, Vec(v), Sum)
					late, ok := errors.AsType[*DeadlineError](err)
					if !ok || !strings.Contains(late.Error(), c.words) || !strings.Contains(late.Error(), "the peer at ") {
						t.Errorf("%v, want a DeadlineError: %s", err, c.words)
					}
					if took := time.Since(began); took < c.after || took > c.after+c.after/10+5*time.Second {
						t.Errorf("it took %v, want %v", took, c.after)
					}
				}
				<-ended
			})
		})
	}
}
