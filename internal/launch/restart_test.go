// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// stopSelf stops a worker of a test, on systems that can stop processes.
var stopSelf = func() {}

// exists reports whether there is a process with this number, also one that has ended and whose parent has not waited for
// it, on systems that can tell.
var exists = func(pid int) bool { return false }

// A worker that dies is restarted with the number of its attempt, and the others continue.
func TestWorkersAreStartedAgain(t *testing.T) {
	var ends []int
	var pauses []time.Duration
	j := Job{
		Restarts:   3,
		Died:       func(r Result) { ends = append(ends, r.Code) },
		Restarting: func(_ Result, pause time.Duration) { pauses = append(pauses, pause) },
	}
	results, root, err := j.Run(t.Context(), workers("exit 0 50", "heal 3 3"))
	if err != nil || root != -1 {
		t.Fatalf("root %d, %v: %+v", root, err, results)
	}
	if r := results[1]; r.Attempt != 3 || r.failed() || r.Pid == 0 {
		t.Errorf("rank 1: %+v, want success in the third attempt", r)
	}
	if d := cmp.Diff([]int{3, 3}, ends); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]time.Duration{100 * time.Millisecond, 200 * time.Millisecond}, pauses); d != "" {
		t.Error(d)
	}
}

func TestRestartsEnd(t *testing.T) {
	results, root, err := Job{Restarts: 1}.Run(t.Context(), workers("obey", "heal 9 70"))
	if err != nil || root != 1 {
		t.Fatalf("root %d, %v", root, err)
	}
	if r := results[1]; r.Attempt != 2 || r.Code != 70 {
		t.Errorf("rank 1: %+v, want two attempts", r)
	}
	if r := results[0]; !r.Ended {
		t.Errorf("rank 0: %+v, want it ended", r)
	}
}

// A worker with an incurable exit code is not restarted.
func TestIncurableIsNotTriedAgain(t *testing.T) {
	for _, code := range []string{"1", "2", "6", "130", "143"} {
		results, root, err := Job{Restarts: 3}.Run(t.Context(), workers("heal 9 "+code))
		if err != nil || root != 0 || results[0].Attempt != 1 {
			t.Errorf("code %s: root %d, %+v, %v", code, root, results, err)
		}
	}
	for code, want := range map[int]bool{0: false, 1: false, 2: false, 3: true, 4: true, 5: true, 6: false, 70: true, 130: false, 137: true, 143: false} {
		if Curable(code) != want {
			t.Errorf("code %d: curable %v", code, !want)
		}
	}
}

// If the job fails during the delay before a restart, the worker is not restarted, and its
// failure is the root cause.
func TestPointlessRestartIsTheCause(t *testing.T) {
	asked := 0
	j := Job{Restarts: 3, Symptom: symptoms, Settle: time.Minute, Again: func(r Result) bool {
		asked++
		return asked == 1 // and no more after the pause
	}}
	results, root, err := j.Run(t.Context(), workers("exit 3 150", "exit 70 0", "obey"))
	if err != nil || root != 1 || results[1].Attempt != 1 {
		t.Errorf("root %d, %+v, %v", root, results, err)
	}
}

// No worker is restarted after the context has ended.
func TestEndCancelsRestarts(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	j := Job{Restarts: 10, Restarting: func(r Result, _ time.Duration) {
		if r.Attempt == 3 {
			cancel(errors.New("enough"))
		}
	}}
	results, _, err := j.Run(ctx, workers("heal 99 3", "obey"))
	if err != nil || results[0].Attempt != 3 {
		t.Errorf("%+v, %v", results, err)
	}
}

func TestPausesGrowToALimit(t *testing.T) {
	var got []time.Duration
	for attempt := 1; attempt <= 8; attempt++ {
		got = append(got, pauseBefore(attempt))
	}
	if !slices.IsSorted(got) || got[0] != firstPause || got[7] != longPause || pauseBefore(1000) != longPause {
		t.Errorf("pauses: %v", got)
	}
}

// A failed worker that Without spares does not fail the job, unless no worker succeeds. A
// failure that Without does not spare ends the job.
func TestOthersGoOnWithout(t *testing.T) {
	for _, c := range []struct {
		roles []string // rank 1 ends first: the others wait for FILE
		root  int
	}{
		{[]string{"after FILE 0", "exit 70 0", "exit 0 100"}, -1},
		{[]string{"after FILE 70", "exit 70 0"}, 1},
		{[]string{"obey", "exit 70 0", "after FILE 9"}, 2},
	} {
		file := filepath.Join(t.TempDir(), "spared")
		var once sync.Once
		j := Job{Without: func(r Result) bool {
			once.Do(func() {
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Error(err)
				}
			})
			return r.Code == 70
		}}
		var roles []string
		for _, role := range c.roles {
			roles = append(roles, strings.ReplaceAll(role, "FILE", file))
		}
		results, root, err := j.Run(t.Context(), workers(roles...))
		if err != nil || root != c.root || !results[1].Spared || results[1].Attempt != 1 {
			t.Errorf("%v: root %d, want %d; %+v, %v", c.roles, root, c.root, results, err)
		}
	}
}

// If a spared rank is reported as missed, the job ends with that rank as the root cause. The
// report is ignored for a rank that was not spared.
func TestSparedIsMissed(t *testing.T) {
	missed := make(chan int, 2)
	j := Job{Missed: missed, Without: func(Result) bool {
		missed <- 0
		missed <- 1
		return true
	}}
	results, root, err := j.Run(t.Context(), workers("obey", "exit 70 0", "obey"))
	if err != nil || root != 1 || results[1].Spared || !results[0].Ended || !results[2].Ended {
		t.Errorf("root %d; %+v, %v", root, results, err)
	}
}

// A report that a rank hangs concerns the attempt that runs. A late one, after that attempt has
// ended, does not kill the next attempt.
func TestHungIsOfOneAttempt(t *testing.T) {
	lifeline, mine, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer lifeline.Close()
	defer mine.Close()
	j := Job{Restarts: 1, Grace: DefaultGrace, Symptom: func(int) bool { return false }}
	s := newSupervisor(j, workers("heal-die"), lifeline)
	s.start(0)
	first := <-s.ended
	s.running--
	s.record(first)
	s.killHung(0) // here, and not through Hung, it always comes before the restart
	s.wait(t.Context())
	if r := s.results[0]; s.root() != 0 || r.Attempt != 2 || r.Code != 137 || r.Hung {
		t.Errorf("root %d, %+v; want the second attempt killed, and not for hanging", s.root(), r)
	}
}
