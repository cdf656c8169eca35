// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/internal/members"
)

// TestJobStartsWithPresentRanks checks that a job without the ranks that are missing at the
// time-out ends with the model of a job of only the present ranks. Late ranks become standbys
// and end with the job.
func TestJobStartsWithPresentRanks(t *testing.T) {
	const total = 4
	for _, came := range [][]int{{0, 1, 2}, {1, 2, 3}, {0, 3}, {2}, {0, 1, 2, 3}} {
		var all []*actor
		var gone []without
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, total, toySteps, Config{Elastic: true, StartTimeout: time.Minute})
			began := time.Now()
			late := slices.DeleteFunc(members.All(total), func(r int) bool { return slices.Contains(came, r) })
			for _, r := range came {
				all = append(all, s.start(r, nil))
			}
			time.Sleep(61 * time.Second)
			for _, r := range late {
				a := s.start(r, nil)
				s.wait.Go(func() {
					<-a.done
					if !stoodBy(a) {
						t.Errorf("rank %d came late, and ended with %v", r, a.err)
					}
					if !strings.Contains(s.logs[a.host].String(), "the job runs without this rank") {
						t.Errorf("late rank %d has not logged that it is late:\n%s", r, s.logs[a.host])
					}
				})
			}
			s.wait.Wait()
			gone = s.checkShrunk(t, all)
			took := time.Since(began)
			if len(late) > 0 && took < time.Minute || took > 2*time.Minute {
				t.Errorf("with %v it took %v", came, took)
			}
		})
		for _, a := range all {
			if a.err != nil {
				t.Errorf("with %v: %s: %v", came, a.host, a.err)
			}
			if !slices.Equal(a.toy.worked, []int{1, 2, 3, 4, 5}) {
				t.Errorf("with %v: %s has worked on %v, want each step once", came, a.host, a.toy.worked)
			}
		}
		switch {
		case len(came) == total && len(gone) > 0, len(came) < total && (len(gone) != 1 || gone[0].Step != 0 || !slices.Equal(gone[0].Live, came)):
			t.Errorf("with %v the job went on as %v", came, gone)
		}
		if want := replay(t, total, toySteps, gone); firstModel(all) != want {
			t.Errorf("with %v: the model differs from that of a job of only these ranks", came)
		}
	}
}

// TestMembersAreFixedBeforeWork checks that Members waits for the decision and returns the same
// ranks to all, and that a late rank has them when Join returns.
func TestMembersAreFixedBeforeWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 3, 20, Config{Elastic: true, StartTimeout: time.Minute})
		join := func(rank int) (*actor, *[]int) {
			live := new([]int)
			return s.start(rank, func(a *actor) {
				a.meet = func(g *Group) (err error) {
					*live, err = g.Members(a.ctx)
					if late := !slices.Contains(*live, rank); err == nil && g.Excluded() != late {
						t.Errorf("rank %d: late is %v, and the roster %v", rank, g.Excluded(), *live)
					}
					return err
				}
			}), live
		}
		first, a := join(1)
		second, b := join(2)
		time.Sleep(70 * time.Second)
		third, c := join(0)
		s.wait.Wait()
		if first.err != nil || second.err != nil || !stoodBy(third) {
			t.Errorf("%v, %v, %v", first.err, second.err, third.err)
		}
		for _, live := range [][]int{*a, *b, *c} {
			if !slices.Equal(live, []int{1, 2}) {
				t.Errorf("Members returned %v, want ranks 1 and 2", live)
			}
		}
	})
}

// TestLateRankLeaves checks that a late rank without files to deliver may leave at once, and
// that a rank that is lost after the start is replaced.
func TestLateRankLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 3, toySteps, Config{Elastic: true, StartTimeout: 5 * time.Second})
		all := []*actor{s.start(0, nil), s.start(1, nil)}
		time.Sleep(6500 * time.Millisecond)
		late := s.start(2, func(a *actor) {
			a.meet = func(g *Group) error {
				if !g.Excluded() {
					t.Error("rank 2 is not late")
				}
				return g.Close()
			}
		})
		<-late.done
		all[1].kill()
		all[1] = s.start(1, nil)
		s.wait.Wait()
		gone := s.checkShrunk(t, all)
		if len(gone) != 1 || !slices.Equal(gone[0].Live, []int{0, 1}) {
			t.Errorf("it went on as %v, want without rank 2", gone)
		}
		for _, a := range all {
			if a.err != nil {
				t.Errorf("%s: %v", a.host, a.err)
			}
		}
	})
}

// TestElasticConfig checks that Validate refuses Elastic with options that exclude it.
func TestElasticConfig(t *testing.T) {
	good := Config{Server: "server:1", Total: 2, OnLoss: Wait, Elastic: true}
	good.Job.RunKey = "run"
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Config){
		"Elastic: OnLoss: ":                                func(c *Config) { c.OnLoss = Abort },
		"Elastic: Job.RunKey: ":                            func(c *Config) { c.Job.RunKey = "" },
		"Checkpoints: a job that starts from a checkpoint": func(c *Config) { c.Checkpoints = &memoryCheckpoints{} },
	} {
		c := good
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
