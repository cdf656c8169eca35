// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// storm is a job under random faults, all drawn from a seed: ranks that are killed,
// stopped, cut off or slow, duplicates, a network that parts. A launcher for
// each rank starts another attempt when one has ended; some jobs have spares besides.
type storm struct {
	*stage
	rng       *rand.Rand
	spares    []*actor
	journal   string   // of the server; "": it has none
	restarted bool     // the server
	story     []string // the faults, for the report of a failure
}

const stormFor = 30 * time.Second // of faults; then all is quiet

func (st *storm) tell(format string, args ...any) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.story = append(st.story, fmt.Sprintf(format, args...))
}

func (st *storm) between(lo, hi time.Duration) time.Duration {
	st.mu.Lock()
	defer st.mu.Unlock()
	return lo + time.Duration(st.rng.Int64N(int64(hi-lo)))
}

// launch keeps a rank going until an attempt of it has ended well.
func (st *storm) launch(rank int, began time.Time) {
	pause := st.between(50*time.Millisecond, 3*time.Second)
	for tries := 1; tries <= 50; tries++ {
		a := st.start(rank, func(a *actor) { a.toy.pause = pause })
		<-a.done
		if finished(a.err) {
			return
		}
		if st.forgotten() {
			return
		}
		// A shrinking job ends when all its ranks are lost. Attempts that join later start it
		// again from the beginning.
		if failed := jobFailed(a.err); failed != nil && st.cfg.OnLoss != Shrink {
			st.t.Errorf("%v: %s: the job has failed: %v", time.Since(began), a.host, failed)
			return
		}
		st.tell("%v: %s ended: %.200v", time.Since(began), a.host, a.err)
		time.Sleep(st.between(0, 4*time.Second))
	}
	st.t.Errorf("rank %d has not ended well in 50 attempts", rank)
}

// finished reports whether an attempt has completed its job, or was not needed.
func finished(err error) bool {
	var done *FinishedError
	var refused *RefusedError
	return err == nil || errors.As(err, &done) || errors.As(err, &refused) && refused.Finished()
}

// forgotten reports whether the model is delivered but a restarted server without a journal may
// not know it. A late rank then gets no FinishedError.
func (st *storm) forgotten() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return len(st.models) > 0 && st.journal == "" && st.restarted
}

// jobFailed returns err if it means the end of the whole job, for which no fault of a storm is a
// reason.
func jobFailed(err error) error {
	refused, ok := errors.AsType[*RefusedError](err)
	if errors.Is(err, errKilled) || ok && refused.Code == protocol.AttemptFenced || ok && refused.Code == protocol.RankHeld {
		return nil
	}
	return err
}

// host is one on which an attempt has been started, or a spare.
func (st *storm) host() string {
	st.mu.Lock()
	defer st.mu.Unlock()
	rank := st.rng.IntN(st.total + len(st.spares))
	if spare := rank - st.total; spare >= 0 {
		return st.spares[spare].host
	}
	return fmt.Sprintf("h%d.%d", rank, max(1, st.attempts[rank]))
}

// fault injects one random fault.
func (st *storm) fault(began time.Time) {
	host := st.host()
	kind := [...]string{"kill", "kill", "stop", "cut", "part", "duplicate", "server link", "server"}[st.between(0, 8)]
	lasts := st.between(0, 25*time.Second)
	st.tell("%v: %s %s (%v)", time.Since(began), kind, host, lasts)
	switch kind {
	case "kill":
		st.mu.Lock()
		a := st.actors[host]
		st.mu.Unlock()
		if a != nil {
			a.kill()
		}
	case "stop":
		st.net.Hold(host, true)
		st.wait.Go(func() {
			time.Sleep(lasts)
			st.net.Hold(host, false)
		})
	case "cut":
		st.net.Cut(host)
	case "part", "server link":
		other := st.host()
		if kind == "server link" {
			other = "server"
		}
		if other == host {
			return
		}
		st.net.Part(host, other, true)
		st.wait.Go(func() {
			time.Sleep(lasts)
			st.net.Part(host, other, false)
		})
	case "server":
		st.mu.Lock()
		st.restarted = true
		st.mu.Unlock()
		st.unserve()
		time.Sleep(lasts)
		st.serve(st.journal)
	case "duplicate":
		if strings.HasPrefix(host, "spare") {
			return
		}
		rank, _ := strconv.Atoi(strings.TrimPrefix(host[:strings.Index(host, ".")], "h"))
		st.start(rank, nil)
	}
}

// storms are the seeds to try: those of GVW_STORM_SEEDS, else as many as given, in the short form a fifth of them.
func storms(t *testing.T, seeds int) (first, end int) {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv("GVW_STORM_SEEDS")); err == nil {
		seeds = n
	} else if testing.Short() {
		seeds /= 5
		t.Log("sampled: a fifth of the storms")
		if sampled.UnderRace {
			seeds /= 2
			t.Log("left out: half of these")
		}
	}
	first = 1
	if n, err := strconv.Atoi(os.Getenv("GVW_STORM_SEED")); err == nil {
		first, seeds = n, 1
	}
	return first, first + seeds
}

const stormSteps = 6

// playStorm plays the storm of a seed.
func playStorm(t *testing.T, seed int, cfg Config) *storm {
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	total := 2 + rng.IntN(4)
	st := &storm{stage: newStage(t, total, stormSteps, cfg), rng: rng}
	began := time.Now()
	if rng.IntN(2) == 0 {
		st.journal = filepath.Join(t.TempDir(), "journal")
		st.unserve()
		st.serve(st.journal)
	}
	faults := 1 + rng.IntN(6)
	spares := 0
	if st.cfg.OnLoss == Wait {
		spares = rng.IntN(3)
	}
	late := make([]time.Duration, total)
	if cfg.Elastic {
		for rank := range late {
			late[rank] = time.Duration(rng.IntN(3)) * cfg.StartTimeout * 3 / 4
		}
	}
	// From here on others draw, too.
	for range spares {
		st.spares = append(st.spares, st.start(-1, nil))
	}
	for rank := range total {
		st.wait.Go(func() {
			time.Sleep(late[rank])
			st.launch(rank, began)
		})
	}
	for range faults {
		time.Sleep(st.between(0, stormFor/6))
		st.fault(began)
	}
	st.wait.Wait()
	for _, a := range st.spares {
		if failed := jobFailed(a.err); failed != nil && !finished(a.err) && !st.forgotten() {
			t.Errorf("%s: %v", a.host, failed)
		}
	}
	return st
}

// report logs the faults and the logs of all hosts if the test has failed.
func (st *storm) report(t *testing.T, seed int) {
	if !t.Failed() {
		return
	}
	t.Logf("replay with GVW_STORM_SEED=%d; what happened:\n%s", seed, strings.Join(st.story, "\n"))
	if testing.Verbose() {
		for host, log := range st.logs {
			t.Logf("%s:\n%s", host, log)
		}
	}
}

// TestStorm checks that after half a minute of random faults the job ends with the model of the
// undisturbed run.
func TestStorm(t *testing.T) {
	models := map[int][32]byte{}
	for total := 2; total <= 5; total++ {
		models[total] = expected(t, total, stormSteps)
	}
	first, end := storms(t, 300)
	for seed := first; seed < end; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				st := playStorm(t, seed, Config{})
				if st.models[0] != models[st.total] {
					t.Errorf("rank 0 delivered %x, want %x", st.models[0], models[st.total])
				}
				st.report(t, seed)
			})
		})
	}
}

// TestStormWithoutReplacements checks that a job that continues without lost ranks ends with the
// model of the remaining ranks, from the step of each loss on.
func TestStormWithoutReplacements(t *testing.T) {
	stormsOfSome(t, 100, Config{OnLoss: Shrink})
}

// TestStormOfPresentRanks lets ranks join up to half a minute late in a job that waits for twenty
// seconds. It must end with the model of the ranks that joined in time, whether it replaces lost
// ranks or not.
func TestStormOfPresentRanks(t *testing.T) {
	for _, how := range []OnLoss{Wait, Shrink} {
		t.Run(how.String(), func(t *testing.T) {
			stormsOfSome(t, 40, Config{OnLoss: how, Elastic: true, StartTimeout: 20 * time.Second})
		})
	}
}

// stormsOfSome plays storms in which not all ranks need be there at the end.
func stormsOfSome(t *testing.T, seeds int, cfg Config) {
	first, end := storms(t, seeds)
	for seed := first; seed < end; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			var st *storm
			synctest.Test(t, func(t *testing.T) {
				st = playStorm(t, seed, cfg)
			})
			var done *actor
			want := map[string][32]byte{} // by the losses of a rank: they are mostly the same for all
			for _, a := range st.actors {
				switch {
				case a.err != nil:
				case done == nil:
					done = a
				case a.model != done.model && !st.forgotten():
					t.Errorf("%s ended with another model than %s: without ranks %v and %v", a.host, done.host, a.toy.gone, done.toy.gone)
				}
				if a.err != nil {
					continue
				}
				key := fmt.Sprint(a.toy.gone)
				if _, known := want[key]; !known {
					want[key] = replay(t, st.total, stormSteps, a.toy.gone)
				}
				if a.model != want[key] {
					t.Errorf("%s ended with another model than a job that goes on as %v", a.host, a.toy.gone)
				}
			}
			if done == nil && !st.forgotten() {
				t.Error("no attempt has finished")
			} else if done != nil && !slices.Contains(slices.Collect(maps.Values(st.models)), done.model) {
				t.Errorf("no rank has delivered the model of %s", done.host)
			}
			st.report(t, seed)
		})
	}
}
