// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The pass of a slow rank, ten times as long as those of the others, and the delay of its
// second attempt, which is as fast as they are.
const (
	healthy = 200 * time.Millisecond
	slow    = 2 * time.Second
)

// paced returns the fault plan of a rank with passes of this length.
func paced(pass time.Duration) string { return fmt.Sprintf("work:1,delay:%v", pass) }

// straggle starts four ranks, of which rank 2 has passes of this length, and its duplicate. It
// returns the slow attempt; the duplicate is rank 2 from then on. late: the duplicate joins
// after the first pass.
func (j *plainJob) straggle(pass time.Duration, late bool) (straggler *process) {
	j.t.Helper()
	for rank := range j.ranks {
		if rank != 2 {
			j.ranks[rank] = j.attempt(rank, rank, fmt.Sprintf("model.%d", rank), paced(healthy))
		}
	}
	straggler = j.attempt(2, 2, "straggler", paced(pass))
	waitFor(j.t, "all ranks to join", func() bool {
		job := j.job()
		return job != nil && job.Joined == len(j.ranks)
	})
	if late {
		j.until("wired")
	}
	j.ranks[2] = j.attempt(2, 2, "model.2", paced(healthy))
	return straggler
}

// idle checks that an attempt has been a standby to the end.
func idle(t *testing.T, p *process) {
	t.Helper()
	if r := p.wait(); r.code != 0 || !strings.Contains(tail(r.stderr, 1), "this attempt of rank 2 is not needed") {
		t.Errorf("exit code %d, want 0, and that it was not needed\n%s", r.code, tail(r.stderr, 10))
	}
}

// TestSlowRankIsOvertaken: in the first pass the attempt that is ready first keeps the rank.
func TestSlowRankIsOvertaken(t *testing.T) {
	t.Parallel()
	want := plainModel(t)
	j := newPlainJob(t)
	straggler := j.straggle(4*slow, false)
	j.end(want)
	idle(t, straggler)
	if readFile(t, filepath.Join(j.dir, "straggler")) != want {
		t.Error("the slow attempt has not copied the model")
	}
	log := j.serverLog()
	if strings.Count(log, `msg="job wired"`) != 1 || !strings.Contains(log, `msg="attempt took the rank"`) {
		t.Errorf("want one epoch, of which the second attempt is a member:\n%s", log)
	}
}

// TestSlowRankIsHandedOver: in a later pass the standby takes over the rank at the end of a
// pass.
func TestSlowRankIsHandedOver(t *testing.T) {
	t.Parallel()
	want := plainModel(t)
	j := newPlainJob(t)
	straggler := j.straggle(slow, true)
	j.end(want)
	idle(t, straggler)
	nothingLeft(t, j.dir, "straggler")
	log := j.serverLog()
	if strings.Count(log, `msg="job wired"`) != 2 || strings.Count(log, `msg="rank handed over"`) != 1 {
		t.Errorf("want two epochs, and between them a hand-over:\n%s", log)
	}
	for _, rank := range []int{0, 1, 3} {
		if said := j.ranks[rank].res.stderr; !strings.Contains(said, "times as long as the median") {
			t.Errorf("rank %d does not say why the epoch was over:\n%s", rank, said)
		}
	}
}

// TestRankWithMoreDataKeepsIt: a rank with three times the data and three times the time is not
// a straggler, although a standby has read the data at once.
func TestRankWithMoreDataKeepsIt(t *testing.T) {
	t.Parallel()
	j := newPlainJob(t)
	lines := strings.SplitAfter(recoveryData(t), "\n")
	for rank, share := range [][2]int{{0, 60}, {60, 120}, {120, 300}, {300, 360}} {
		j.parts[rank] = writeFile(t, filepath.Join(j.dir, fmt.Sprintf("uneven.%d", rank)), strings.Join(lines[share[0]:share[1]], ""))
	}
	for rank := range j.ranks {
		pass := 500 * time.Millisecond // so long that the delays of a busy machine are small
		if rank == 2 {
			pass *= 3
		}
		j.ranks[rank] = j.attempt(rank, rank, fmt.Sprintf("model.%d", rank), paced(pass))
	}
	j.until("wired")
	second := j.attempt(2, 2, "second", "")
	j.end("")
	idle(t, second)
	if log := j.serverLog(); strings.Count(log, `msg="job wired"`) != 1 {
		t.Errorf("want one epoch:\n%s", log)
	}
}
