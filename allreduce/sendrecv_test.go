// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/members"
)

// TestSendRecvOneWay checks that a rank may send more than it receives, and may receive nothing.
func TestSendRecvOneWay(t *testing.T) {
	const n, long, short = 3, 1000, 10 // 0 sends to 1, which sends to 2
	j := newTCPJob(t, n, Config{})
	j.ready()
	got := [n][]float32{nil, make([]float32, long), make([]float32, short)}
	j.each(func(rank int) error {
		from, to := rank-1, rank+1
		src := wild([]int{long, short, 0}[rank], 5, rank)
		if rank == 0 {
			from = -1
		}
		if rank == n-1 {
			to = -1
		}
		return j.groups[rank].SendRecv(ctx, Vec(got[rank]), from, Vec(src), to)
	})
	for rank, want := range [n][]float32{nil, wild(long, 5, 0), wild(short, 5, 1)} {
		if !bytes.Equal(Vec(got[rank]).bytes(), Vec(want).bytes()) {
			t.Errorf("rank %d: other bytes than rank %d has sent", rank, rank-1)
		}
	}
}

// TestSendRecvDisagreement checks that an unmatched send is an error on all ranks at once, and
// that the error shows both calls.
func TestSendRecvDisagreement(t *testing.T) {
	ring := func(g *Group, n int) error {
		return g.SendRecv(ctx, Vec(make([]float32, 10)), (g.Rank()+n-1)%n, Vec(make([]float32, 10)), (g.Rank()+1)%n)
	}
	const usual0 = "to rank 1: 10 float32; from rank 3: 10 float32"
	for _, c := range []struct {
		name   string
		call   func(g *Group) error // of rank 1
		mine   string
		theirs string
	}{
		{"length", func(g *Group) error {
			return g.SendRecv(ctx, Vec(make([]float32, 9)), 0, Vec(make([]float32, 10)), 2)
		}, "to rank 2: 10 float32; from rank 0: 9 float32", usual0},
		{"type", func(g *Group) error {
			return g.SendRecv(ctx, Vec(make([]int32, 10)), 0, Vec(make([]float32, 10)), 2)
		}, "to rank 2: 10 float32; from rank 0: 10 int32", usual0},
		{"another peer", func(g *Group) error {
			return g.SendRecv(ctx, Vec(make([]float32, 10)), 0, Vec(make([]float32, 10)), 3)
		}, "to rank 3: 10 float32; from rank 0: 10 float32", "to rank 0: 10 float32; from rank 2: 10 float32"},
		{"nobody is sent to", func(g *Group) error {
			return g.SendRecv(ctx, Vec(make([]float32, 10)), 0, Vec([]float32(nil)), -1)
		}, "to no rank; from rank 0: 10 float32", "to rank 3: 10 float32; from rank 1: 10 float32"},
		{"nobody is received from", func(g *Group) error {
			return g.SendRecv(ctx, Vec([]float32(nil)), -1, Vec(make([]float32, 10)), 2)
		}, "to rank 2: 10 float32; from no rank", usual0},
		{"another collective", func(g *Group) error { return g.Barrier(ctx) }, "barrier #", "send-receive #"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const n = 4
			j := newTCPJob(t, n, Config{LostAfter: time.Hour})
			j.ready()
			j.each(func(rank int) error { return ring(j.groups[rank], n) })
			errs := j.all(func(rank int) error {
				if rank == 1 {
					return c.call(j.groups[rank])
				}
				return ring(j.groups[rank], n)
			})
			for rank, err := range errs {
				var m *MismatchError
				if !errors.As(err, &m) && c.mine != "barrier #" {
					t.Errorf("rank %d: got %v, want a *MismatchError", rank, err)
				}
				if err == nil || !strings.Contains(err.Error(), c.mine) || !strings.Contains(err.Error(), c.theirs) {
					t.Errorf("rank %d: got %v, want %q and %q in it", rank, err, c.mine, c.theirs)
				}
			}
		})
	}
}

// The gathered arguments of a rank may have any values.
func TestDisagreeOfNonsense(t *testing.T) {
	words := make([]int64, 2*engine.SendRecvWords)
	(&engine.SendRecv{To: 7, From: -1, Out: -1, OutKind: 99}).Put(words)
	(&engine.SendRecv{To: -1, From: -1}).Put(words[engine.SendRecvWords:])
	if a, b, ok := disagree(words, members.All(2)); !ok || a != 0 || b != 7 {
		t.Errorf("got %d, %d, %v, want 0, 7, true", a, b, ok)
	}
	if got := fmt.Sprint(engine.DecodeSendRecv(words)); got != "to rank 7: -1 kind 99; from no rank" {
		t.Errorf("got %q", got)
	}
}

// wild are numbers whose sum depends on the order.
func wild(count, seed, rank int) []float32 {
	v := make([]float32, count)
	for i := range v {
		v[i] = float32(math.Sin(float64(i*7+rank+seed))) * float32(int(1)<<((i+rank)%20))
	}
	return v
}
