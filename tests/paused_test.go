// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pauseFor is longer than the --lost_after of the ranks and of the server, and than stallsInPause.
const pauseFor = 6 * time.Second

// stallsInPause are the options of ranks whose --stall_timeout is shorter than a pause.
var stallsInPause = []string{"--stall_timeout", "5s"}

// outlasting is a plan for GVW_FAULT. Its last step is longer than a pause, so that the job does not end in the pause.
var outlasting = fmt.Sprintf("work:1,delay:200ms;work:6,delay:%v", pauseFor+2*time.Second)

// startAllWith starts all ranks with one plan for GVW_FAULT.
func (j *plainJob) startAllWith(plan string) {
	j.t.Helper()
	plans := map[int]string{}
	for rank := range j.ranks {
		plans[rank] = plan
	}
	j.startAll(plans)
}

// pause stops processes for a while, as if their machine were suspended.
func pause(t *testing.T, all ...*process) {
	t.Helper()
	for _, sig := range []os.Signal{sigStop, sigCont} {
		for _, p := range all {
			if err := p.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
		}
		if sig == sigStop {
			time.Sleep(pauseFor) // the test is about the length of the pause
		}
	}
}

// A server that is stopped for longer than --lost_after neither loses a job nor accuses a rank,
// with every --on_loss, and also when all files are delivered.
func TestPausedServer(t *testing.T) {
	t.Parallel()
	want := plainModel(t)
	for _, policy := range []string{"abort", "wait"} {
		for _, when := range []string{"at work", "ending"} {
			t.Run(policy+" "+when, func(t *testing.T) {
				t.Parallel()
				j := newPlainJob(t)
				j.policy, j.more = policy, stallsInPause
				if when == "at work" {
					j.startAllWith(outlasting)
					j.untilPass(2)
				} else {
					j.startAllWith(fmt.Sprintf("delivery:1,delay:%v", pauseFor+2*time.Second))
					j.until("ending")
				}
				pause(t, j.server)
				j.end(want)
				for rank, p := range j.ranks {
					if strings.Contains(p.res.stderr, "lost rank") {
						t.Errorf("rank %d accuses another\n%s", rank, tail(p.res.stderr, 20))
					}
				}
				log := j.serverLog()
				if !strings.Contains(log, "this server was paused") || !strings.Contains(log, "job finished") {
					t.Error("the server has not noticed the pause, or the job has not finished")
				}
				for _, accusation := range []string{"rank lost", "epoch ended", "job failed"} {
					if strings.Contains(log, accusation) {
						t.Errorf("the server's log has %q:\n%s", accusation, tail(log, 40))
					}
				}
			})
		}
	}
}

// Ranks that are stopped for longer than --server_timeout while the server is away still try to
// reach it for the rest of that time when they continue.
func TestPausedDuringAServerOutage(t *testing.T) {
	t.Parallel()
	want := plainModel(t)
	j := newPlainJob(t)
	j.more = append([]string{"--server_timeout", "5s"}, stallsInPause...)
	j.startAllWith(outlasting)
	j.untilPass(2)
	if err := j.server.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	j.server.wait()
	time.Sleep(200 * time.Millisecond) // let the ranks notice
	pause(t, j.ranks...)
	j.serve()
	j.end(want)
	for rank, p := range j.ranks {
		if !strings.Contains(p.res.stderr, `msg="the server is back"`) {
			t.Errorf("rank %d has not come back\n%s", rank, tail(p.res.stderr, 20))
		}
	}
}

// A machine that is suspended with the server and all ranks on it loses nothing.
func TestPausedMachine(t *testing.T) {
	t.Parallel()
	want := plainModel(t)
	for _, policy := range []string{"abort", "wait"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			j := newPlainJob(t)
			j.policy, j.more = policy, stallsInPause
			j.startAllWith(outlasting)
			j.untilPass(2)
			pause(t, append([]*process{j.server}, j.ranks...)...)
			j.end(want)
			log := j.serverLog()
			for _, accusation := range []string{"rank lost", "epoch ended", "job failed", "edge reported"} {
				if strings.Contains(log, accusation) {
					t.Errorf("the server's log has %q:\n%s", accusation, tail(log, 40))
				}
			}
			for rank, p := range j.ranks {
				for _, accusation := range []string{"server lost", "lost rank", "no byte moved"} {
					if strings.Contains(p.res.stderr, accusation) {
						t.Errorf("rank %d: %q\n%s", rank, accusation, tail(p.res.stderr, 20))
					}
				}
			}
			nothingLeft(t, j.dir, fmt.Sprintf("model.%d", len(j.ranks)))
			if got := readFile(t, filepath.Join(j.dir, "model.0")); got != want {
				t.Error("another model than that of an undisturbed job")
			}
		})
	}
}
