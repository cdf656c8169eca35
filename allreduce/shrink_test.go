// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/sampled"
)

// replay is the model of a job of toys that continues without the ranks in gone. It is computed
// by jobs without losses: one job of the remaining ranks for each stretch of steps.
func replay(t *testing.T, total, steps int, gone []without) [32]byte {
	t.Helper()
	live, state := []int(members.All(total)), []byte(nil)
	for i := 0; ; i++ {
		until := steps
		if i < len(gone) {
			until = gone[i].Step
		}
		state = stretch(t, live, state, until)
		if i == len(gone) {
			break
		}
		live = gone[i].Live
		m := newToy(live[0], steps)
		if err := m.ReadState(bytes.NewReader(state)); err != nil {
			t.Fatal(err)
		}
		if err := m.Shrink(live); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := m.WriteState(&b); err != nil {
			t.Fatal(err)
		}
		state = b.Bytes()
	}
	m := newToy(live[0], steps)
	if err := m.ReadState(bytes.NewReader(state)); err != nil {
		t.Fatal(err)
	}
	return m.model()
}

// stretch is the state after the steps of a job of toys with the numbers in live, which
// begins at a state. nil: at the start.
func stretch(t *testing.T, live []int, state []byte, steps int) []byte {
	t.Helper()
	var after bytes.Buffer
	run := func(t *testing.T, j *testJob, _ *mem.Network) {
		j.each(func(position int) error {
			m := newToy(live[position], steps)
			if state != nil {
				if err := m.ReadState(bytes.NewReader(state)); err != nil {
					return err
				}
			}
			if err := j.groups[position].Run(ctx, m); err != nil {
				return err
			}
			if position == 0 {
				return m.WriteState(&after)
			}
			return nil
		})
	}
	inBubble(t, len(live), Config{}, run)
	return after.Bytes()
}

// checkShrunk checks that all finished attempts have the model of jobs of the remaining ranks. It
// returns the ranks without which the job continued.
func (s *stage) checkShrunk(t *testing.T, all []*actor) []without {
	t.Helper()
	var first *actor
	for _, a := range all {
		switch {
		case a.err != nil:
		case first == nil:
			first = a
		case a.model != first.model || !cmp.Equal(a.toy.gone, first.toy.gone):
			t.Errorf("%s ended with another model than %s: without ranks %v and %v", a.host, first.host, a.toy.gone, first.toy.gone)
		}
	}
	if first == nil {
		t.Fatalf("no attempt has finished: %v", all[0].err)
	}
	for rank, model := range s.models {
		if model != first.model {
			t.Errorf("rank %d delivered another model", rank)
		}
	}
	if len(s.models) == 0 {
		t.Error("no rank has delivered the model")
	}
	return first.toy.gone
}

// TestJobContinuesWithoutARank kills each rank at each place of a step. The others must end with
// equal models: that of a job of only these ranks which begins where they were. The next attempt
// of the rank is not needed.
func TestJobContinuesWithoutARank(t *testing.T) {
	const total = 4
	for victim := range total {
		for _, at := range sampled.Race(t, []struct {
			step  int
			where string
		}{
			{1, "between"},
			{1, "commit"},
			{3, "work"},
			{3, "exchange"},
			{3, "between"},
			{3, "commit"},
			{toySteps, "work"},
			{toySteps, "exchange"},
			{toySteps, "between"},
			{toySteps, "commit"},
		}, victim%3, 3) {
			t.Run(fmt.Sprintf("rank %d in %s of step %d", victim, at.where, at.step), func(t *testing.T) {
				var all []*actor
				var gone []without
				synctest.Test(t, func(t *testing.T) {
					s := newStage(t, total, toySteps, Config{OnLoss: Shrink})
					for rank := range total {
						all = append(all, s.start(rank, func(a *actor) {
							if rank != victim {
								return
							}
							a.toy.at = func(step int, where string) {
								if step == at.step && where == at.where {
									a.kill()
								}
							}
						}))
					}
					<-all[victim].done
					time.Sleep(3 * time.Second)
					all[victim] = s.start(victim, nil)
					s.wait.Wait()
					for _, a := range all {
						if !finished(a.err) {
							t.Errorf("%s: %v\n%s", a.host, a.err, s.logs[a.host])
						}
					}
					gone = s.checkShrunk(t, all)
				})
				last := at.step == toySteps && at.where == "commit" // then the others may be through
				if len(gone) == 0 && !last {
					t.Fatal("the job has not gone on without a rank")
				}
				if len(gone) > 0 {
					left := slices.DeleteFunc(members.All(total), func(r int) bool { return r == victim })
					if len(gone) != 1 || !slices.Equal(gone[0].Live, left) {
						t.Errorf("it went on with %v, want ranks %v", gone, left)
					}
					lo, hi := at.step-1, at.step-1
					switch at.where {
					case "commit":
						hi++
					case "work": // the step before is not completed by all yet
						lo--
					}
					if got := gone[0].Step; got < lo || got > hi {
						t.Errorf("it went on after step %d, want %d to %d", got, lo, hi)
					}
				}
				if want := replay(t, total, toySteps, gone); firstModel(all) != want {
					t.Error("the model differs from that of a job of only the remaining ranks from there on")
				}
				for rank, a := range all {
					if rank != victim && len(a.toy.worked) != toySteps {
						t.Errorf("rank %d has worked on steps %v, want each once", rank, a.toy.worked)
					}
				}
			})
		}
	}
}

// firstModel is the model of the first that has finished.
func firstModel(all []*actor) [32]byte {
	for _, a := range all {
		if a.err == nil {
			return a.model
		}
	}
	return [32]byte{}
}

// TestOnlyOneIsLeft loses ranks, one after the other or at once, until one is left.
func TestOnlyOneIsLeft(t *testing.T) {
	for _, lost := range [][][]int{{{0}, {2}, {3}}, {{0, 1, 2}}, {{1, 2}, {3}}, {{3}, {0, 1}}} {
		var all []*actor
		var gone []without
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 4, toySteps, Config{OnLoss: Shrink})
			all = s.startAll()
			for _, ranks := range lost {
				time.Sleep(1500 * time.Millisecond) // in the second step, the third, and so on
				for _, r := range ranks {
					all[r].kill()
				}
			}
			s.wait.Wait()
			gone = s.checkShrunk(t, all)
		})
		if n := len(gone); n < 1 || len(gone[n-1].Live) != 1 {
			t.Errorf("%v are lost, and the job went on as %v", lost, gone)
		}
		if want := replay(t, 4, toySteps, gone); firstModel(all) != want {
			t.Errorf("%v are lost: another model than without them from there on", lost)
		}
	}
}

// TestAllRanksAreLost checks that a job fails if all its ranks are lost.
func TestAllRanksAreLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2, toySteps, Config{OnLoss: Shrink})
		all := s.startAll()
		time.Sleep(1500 * time.Millisecond)
		for _, a := range all {
			a.kill()
		}
		s.wait.Wait()
		if len(s.models) > 0 {
			t.Error("a model was delivered")
		}
	})
}

// TestStandbyReplacesWhereOthersGoOnWithout checks that a ready standby replaces a lost rank, also
// after the job has continued without another rank.
func TestStandbyReplacesWhereOthersGoOnWithout(t *testing.T) {
	var all []*actor
	var gone []without
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, toySteps, Config{OnLoss: Shrink})
		var second atomic.Pointer[actor] // the attempt that does the second step of rank 2
		for _, rank := range []int{0, 1, 2, 3, 2} {
			all = append(all, s.start(rank, func(a *actor) {
				a.toy.at = func(step int, where string) {
					if rank == 2 && step == 2 && where == "work" {
						second.CompareAndSwap(nil, a)
					}
				}
			}))
		}
		time.Sleep(1500 * time.Millisecond)
		all[0].kill()
		time.Sleep(2 * time.Second)
		holder, standby := all[2], all[4]
		if second.Load() == standby {
			holder, standby = standby, holder
		}
		holder.kill()
		s.wait.Wait()
		if standby.err != nil {
			t.Errorf("the standby: %v", standby.err)
		}
		gone = s.checkShrunk(t, all)
	})
	if len(gone) != 1 || !slices.Equal(gone[0].Live, []int{1, 2, 3}) {
		t.Errorf("the job went on with %v, want all ranks except 0", gone)
	}
	if want := replay(t, 4, toySteps, gone); firstModel(all) != want {
		t.Error("another model than without rank 0 from there on")
	}
}

// steady is a Recoverable that is no Shrinker.
type steady struct{ Recoverable }

func TestShrinkNeedsAShrinker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2, toySteps, Config{OnLoss: Shrink})
		var all []*actor
		for rank := range 2 {
			all = append(all, s.start(rank, func(a *actor) { a.change = func(m *toy) Machine { return steady{m} } }))
		}
		s.wait.Wait()
		for _, a := range all {
			if a.err == nil || !strings.Contains(a.err.Error(), "Shrinker") {
				t.Errorf("%s: got %v, want that the machine is no Shrinker", a.host, a.err)
			}
		}
	})
}

// TestNoCheckpointsWithoutAllRanks checks that a job without some ranks writes no checkpoints: a
// job that starts from one has all ranks.
func TestNoCheckpointsWithoutAllRanks(t *testing.T) {
	kept := &memoryCheckpoints{}
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 3, toySteps, Config{OnLoss: Shrink, Checkpoints: kept, CheckpointEvery: 1})
		all := s.startAll()
		time.Sleep(2500 * time.Millisecond)
		all[1].kill()
		s.wait.Wait()
		s.checkShrunk(t, all)
	})
	if !slices.Equal(kept.saved, []uint64{1, 2}) {
		t.Errorf("checkpoints were kept of steps %v, want 1 and 2", kept.saved)
	}
}

// caller is a toy that makes all the other calls of a group, too.
type caller struct {
	*toy
	t *testing.T
}

func (m caller) Exchange(ctx context.Context, g *Group) error {
	live := []int(members.All(4))
	if n := len(m.gone); n > 0 {
		live = m.gone[n-1].Live
	}
	if err := m.calls(ctx, g, live); err != nil {
		return err
	}
	return m.toy.Exchange(ctx, g)
}

// calls makes every call with every rank as the root, and holds that segments, roots and
// partners are found by the ranks' numbers.
func (m caller) calls(ctx context.Context, g *Group, live []int) error {
	n, self := len(live), slices.Index(live, m.rank)
	sum := 0
	for _, r := range live {
		sum += r
	}
	check := func(what string, got, want any) {
		if diff := cmp.Diff(want, got); diff != "" {
			m.t.Errorf("%s of %v on rank %d, -want +got:\n%s", what, live, m.rank, diff)
		}
	}
	vector := func(x int) []int64 { return slices.Repeat([]int64{int64(x)}, 12) }
	for _, root := range live {
		v := vector(m.rank)
		if err := g.Broadcast(ctx, Vec(v), root); err != nil {
			return err
		}
		check("broadcast", v, vector(root))
		v = vector(m.rank)
		if err := g.Reduce(ctx, Vec(v), Sum, root); err != nil {
			return err
		}
		if m.rank == root {
			check("reduce", v, vector(sum))
		}
		v = vector(m.rank)
		if err := g.Gather(ctx, Vec(v), root); err != nil {
			return err
		}
		for _, r := range live {
			if lo, hi := g.Segment(len(v), r); m.rank == root {
				check("gather", v[lo:hi], vector(r)[lo:hi])
			}
		}
		v = vector(m.rank)
		if err := g.Scatter(ctx, Vec(v), root); err != nil {
			return err
		}
		lo, hi := g.Segment(len(v), m.rank)
		check("scatter", v[lo:hi], vector(root)[lo:hi])
	}
	v := vector(m.rank)
	if err := g.ReduceScatter(ctx, Vec(v), Sum); err != nil {
		return err
	}
	if err := g.AllGather(ctx, Vec(v)); err != nil {
		return err
	}
	check("reduce-scatter and all-gather", v, vector(sum))
	before, after := live[(self+n-1)%n], live[(self+1)%n]
	v = vector(-1)
	if err := g.SendRecv(ctx, Vec(v), before, Vec(vector(m.rank)), after); err != nil {
		return err
	}
	check("send-receive", v, vector(before))
	mean := []float32{float32(m.rank)}
	if err := g.AccumulateAvg(ctx, mean, mean, 1, 0); err != nil {
		return err
	}
	check("average", mean, []float32{float32(sum) / float32(n)})
	check("size", g.Size(), n)
	check("rank", g.Rank(), m.rank)
	return g.Barrier(ctx)
}

func TestAllCallsWithoutARank(t *testing.T) {
	for victim := range 4 {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 4, toySteps, Config{OnLoss: Shrink})
			var all []*actor
			for rank := range 4 {
				all = append(all, s.start(rank, func(a *actor) { a.change = func(m *toy) Machine { return caller{m, t} } }))
			}
			time.Sleep(2500 * time.Millisecond)
			all[victim].kill()
			s.wait.Wait()
			if gone := s.checkShrunk(t, all); len(gone) != 1 {
				t.Errorf("it went on without ranks as %v, want once", gone)
			}
		})
	}
}
