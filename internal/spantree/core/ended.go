// SPDX-License-Identifier: Apache-2.0

package core

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// outcome is how a job has ended.
type outcome string

const (
	jobFinished  outcome = "finished"
	jobFailed    outcome = "failed"
	jobCancelled outcome = "cancelled"
	jobClosed    outcome = "closed"      // every rank left before the start
	jobHanded    outcome = "handed over" // to its vw workers, whose end no server learns
)

// maxEnded is how many ended jobs are kept for people: a status holds them all. They take
// 3 MiB at most, which MaxMemory does not count.
const maxEnded = 1000

// endings are the newest jobs that have ended, oldest first.
type endings []protocol.EndedJob

func (e *endings) add(j protocol.EndedJob) {
	*e = append(*e, j)
	if n := len(*e); n > maxEnded {
		*e = slices.Delete(*e, 0, n-maxEnded)
	}
}

func (e *endings) expire(now time.Time, age time.Duration) {
	*e = slices.DeleteFunc(*e, func(j protocol.EndedJob) bool { return now.Sub(j.Ended) > age })
}

// ended notes how a job has ended.
func (m *Machine) ended(j *job, how outcome, why protocol.Cause) {
	e := protocol.EndedJob{
		UniqueID: j.id.UniqueID, RunKey: j.id.RunKey, Generation: j.generation, Outcome: string(how), Cause: why.Why, Rank: why.Rank,
		Host: why.Host, Total: j.total, Seconds: m.Now.Sub(j.created).Seconds(), Ended: m.wall.UTC().Round(0),
	}
	if how == jobFinished {
		e.Rank = -1
		if j.finish.model != [32]byte{} {
			e.Model = hex.EncodeToString(j.finish.model[:])
		}
	}
	m.endings.add(e)
}

// Recall adds a run that an earlier life of the server has recorded.
func (m *Machine) Recall(r *protocol.FinishedRecord) {
	m.finished.add(r)
	m.endings.add(protocol.EndedJob{
		UniqueID: r.Job.UniqueID, RunKey: r.Job.RunKey, Generation: r.Generation, Outcome: string(jobFinished), Rank: -1,
		Total: int(r.Total), Ended: r.At.UTC().Round(0), Model: hex.EncodeToString(r.Model[:]),
	})
}

// abandoned is why a job that runs has no rank any more.
func (j *job) abandoned() protocol.Cause {
	why := j.lastEnd.cause
	if why == (protocol.Cause{}) {
		why.Rank = -1
	}
	why.Why = strings.TrimPrefix(why.Why+"; every rank was lost, and another job took the place", "; ")
	return why
}

// left is why a job that fills has no rank any more: the last that left.
func (j *job) lastDeparture() protocol.Cause {
	why := protocol.Cause{Rank: -1, Why: "every rank left before the start"}
	var last time.Time
	for _, r := range sortedRanks(j.departed) {
		if f := j.departed[r]; f.at.After(last) {
			why, last = protocol.Cause{Rank: r, Host: f.host, Why: "every rank left before the start, this one last: " + f.why}, f.at
		}
	}
	return why
}
