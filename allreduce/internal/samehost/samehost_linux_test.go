// SPDX-License-Identifier: Apache-2.0

package samehost

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/shm"
)

func TestHosts(t *testing.T) {
	many := slices.Repeat([]string{"10.0.0.1"}, shm.MaxRanks+1)
	for _, c := range []struct {
		name  string
		hosts []string // by rank; "": it does not take part
		want  [][]int
	}{
		{"no ranks", nil, nil},
		{"one rank of each host", []string{"a", "b"}, nil},
		{"hosts by first rank", []string{"b", "a", "a", "b"}, [][]int{{0, 3}, {1, 2}}},
		{"missing ranks", []string{"a", "", "a"}, [][]int{{0, 2}}},
		{"an IPv6 address", []string{"[::1]", "::1"}, [][]int{{0, 1}}},
		{"too many ranks of a host", many, nil},
		{"as many as possible", many[1:], [][]int{seq(shm.MaxRanks)}},
	} {
		if diff := cmp.Diff(c.want, Hosts(taking(c.hosts))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// taking yields the ranks that take part, and their hosts.
func taking(hosts []string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for rank, host := range hosts {
			if host != "" && !yield(rank, host) {
				return
			}
		}
	}
}

func seq(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func TestOffersKeepTheLocation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := shm.Location{
			PID: rapid.Int32().Draw(rt, "PID"), FD: rapid.Int32().Draw(rt, "FD"),
			Bytes: rapid.Int64().Draw(rt, "bytes"), Arena: rapid.Int64().Draw(rt, "arena"),
		}
		copy(want.Nonce[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "nonce"))
		words := make([]uint64, 3*offerWords)
		offerOf(words, 1).setLocation(want)
		if diff := cmp.Diff(want, offerOf(words, 1).location()); diff != "" {
			rt.Fatalf("(-want +got):\n%s", diff)
		}
		for i, w := range words {
			if w != 0 && (i < offerWords || i >= 2*offerWords) {
				rt.Fatalf("word %d belongs to another host, and is %d", i, w)
			}
		}
	})
}

// agreement carries out the all-reduces of all ranks in memory.
type agreement struct {
	size  int
	mu    sync.Mutex
	round *round
}

type round struct {
	arrived int
	sum     []uint64
	done    chan struct{}
}

func (a *agreement) agree(_ context.Context, v []uint64, op kernels.Op) error {
	a.mu.Lock()
	if a.round == nil {
		a.round = &round{sum: slices.Clone(v), done: make(chan struct{})}
	}
	r := a.round
	for i, x := range v {
		if op == kernels.Min {
			r.sum[i] = min(r.sum[i], x)
		} else {
			r.sum[i] = max(r.sum[i], x)
		}
	}
	if r.arrived++; r.arrived == a.size {
		a.round = nil
		close(r.done)
	}
	a.mu.Unlock()
	<-r.done
	copy(v, r.sum)
	return nil
}

// worker is a rank of a generated job.
type worker struct {
	host, machine           int
	refuses, makes, opens   bool
	knowsMachine, sameBuild bool
}

func (w worker) config(rank int, hosts []string) Config {
	c := Config{
		Rank: rank, Hosts: taking(hosts), Refuse: w.refuses, Log: slog.New(slog.DiscardHandler),
		Machine:  func() (string, error) { return fmt.Sprint("boot ", w.machine), nil },
		Segments: shm.Segments{Make: func(n int, _ int64) (*shm.Segment, error) { return shm.NewSegment(n, 0) }, Open: shm.OpenSegment},
	}
	if !w.knowsMachine {
		c.Machine = func() (string, error) { return "", os.ErrNotExist }
	}
	if !w.makes {
		c.Segments.Make = func(int, int64) (*shm.Segment, error) { return nil, errors.New("no memory") }
	}
	if !w.sameBuild {
		c.Segments.Make = func(n int, _ int64) (*shm.Segment, error) { return shm.NewSegment(n+8, 0) }
	}
	if !w.opens {
		c.Segments.Open = func(shm.Location) (*shm.Segment, error) { return nil, errors.New("other PID namespace") }
	}
	return c
}

// shares reports whether the ranks of a host share memory.
func shares(workers []worker, host []int) bool {
	first := workers[host[0]]
	if len(host) < 2 || !first.makes && first.sameBuild || !first.sameBuild {
		return false
	}
	for i, rank := range host {
		w := workers[rank]
		if w.machine != first.machine || w.refuses || !w.knowsMachine || i > 0 && !w.opens {
			return false
		}
	}
	return true
}

// TestAllRanksFindTheSame: in every job all ranks find the same hosts, those that share memory, and
// the ranks of a host have one segment.
func TestAllRanksFindTheSame(t *testing.T) {
	mostly := rapid.Custom(func(rt *rapid.T) bool { return rapid.IntRange(0, 7).Draw(rt, "mostly") > 0 })
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(1, 7).Draw(rt, "size")
		workers, hosts := make([]worker, size), make([]string, size)
		byHost := make([][]int, 3)
		for rank := range workers {
			w := worker{
				host: rapid.IntRange(0, 2).Draw(rt, "host"), refuses: !mostly.Draw(rt, "agrees"), makes: mostly.Draw(rt, "makes"), opens: mostly.Draw(rt, "opens"),
				knowsMachine: mostly.Draw(rt, "knows its machine"), sameBuild: mostly.Draw(rt, "same build"),
			}
			if w.machine = w.host; !mostly.Draw(rt, "same machine") {
				w.machine = 9
			}
			workers[rank], hosts[rank] = w, fmt.Sprintf("10.0.0.%d", w.host)
			byHost[w.host] = append(byHost[w.host], rank)
		}
		var want [][]int
		for rank, w := range workers {
			if ranks := byHost[w.host]; ranks[0] == rank && shares(workers, ranks) {
				want = append(want, ranks)
			}
		}
		a := &agreement{size: size}
		got, errs := make([]Found, size), make([]error, size)
		var work sync.WaitGroup
		for rank, w := range workers {
			work.Go(func() { got[rank], errs[rank] = Find(context.Background(), w.config(rank, hosts), a.agree) })
		}
		work.Wait()
		for rank, found := range got {
			if diff := cmp.Diff(want, found.Hosts); diff != "" || errs[rank] != nil {
				rt.Errorf("rank %d: %v, hosts (-want +got):\n%s", rank, errs[rank], diff)
			}
			at := slices.IndexFunc(want, func(h []int) bool { return slices.Contains(h, rank) })
			if (at >= 0) != (found.Segment != nil) || at >= 0 && !slices.Equal(found.Ranks, want[at]) {
				rt.Errorf("rank %d: segment %v of ranks %v", rank, found.Segment != nil, found.Ranks)
			}
			if found.Segment == nil {
				continue
			}
			first := got[found.Ranks[0]].Segment
			if found.Segment.Flag(0).Add(1); first == nil || first.Flag(0).Load() == 0 {
				rt.Errorf("rank %d has another segment than rank %d", rank, found.Ranks[0])
			}
		}
		for rank, found := range got {
			if found.Segment == nil {
				continue
			}
			if n := got[found.Ranks[0]].Segment.Flag(0).Load(); rank == found.Ranks[0] && n != uint64(len(found.Ranks)) {
				rt.Errorf("ranks %v have written %d times to one segment", found.Ranks, n)
			}
		}
		for _, found := range got {
			if found.Segment != nil {
				found.Segment.Close()
			}
		}
	})
}

// TestFailedAgreement: an error of agree is returned, and leaves no segment open.
func TestFailedAgreement(t *testing.T) {
	broken := errors.New("lost rank 1")
	for fails := range 2 {
		calls := 0
		var made *shm.Segment
		c := worker{makes: true, opens: true, knowsMachine: true, sameBuild: true}.config(0, []string{"a", "a"})
		c.Segments.Make = func(n int, _ int64) (seg *shm.Segment, err error) {
			made, err = shm.NewSegment(n, 0)
			return made, err
		}
		found, err := Find(context.Background(), c, func(context.Context, []uint64, kernels.Op) error {
			if calls++; calls > fails {
				return broken
			}
			return nil
		})
		if err != broken || found.Segment != nil || calls != fails+1 {
			t.Errorf("agreement %d fails: got %v after %d calls, segment %v", fails, err, calls, found.Segment != nil)
		}
		if _, err := shm.OpenSegment(made.Location()); err == nil {
			t.Errorf("agreement %d fails: the segment is still open", fails)
		}
	}
}
