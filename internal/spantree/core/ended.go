// SPDX-License-Identifier: Apache-2.0

package core

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// outcome is the end of a job.
type outcome string

const (
	jobFinished  outcome = "finished"
	jobFailed    outcome = "failed"
	jobCancelled outcome = "cancelled"
	jobClosed    outcome = "closed"      // all ranks left before the start
	jobHanded    outcome = "handed over" // to its vw workers, whose end the server does not learn
)

// ended records the outcome of a job.
func (m *Machine) ended(j *job, how outcome, why protocol.Cause) {
	e := protocol.EndedJob{
		UniqueID: j.id.UniqueID, RunKey: j.id.RunKey, Generation: j.generation, Outcome: string(how), Cause: why.Why, Rank: why.Rank,
		// Seconds follow the machine's clock, without pauses. Ended is a calendar time; Round
		// removes its monotonic reading, so that equal times compare as equal.
		Host: why.Host, Total: j.total, Seconds: m.Now.Sub(j.created).Seconds(), Ended: m.wall.UTC().Round(0),
	}
	if how == jobFinished {
		e.Rank = -1
		if j.finish.model != [32]byte{} {
			e.Model = hex.EncodeToString(j.finish.model[:])
		}
	}
	m.endings.Add(e)
}

// Recall adds a finished run from the journal.
func (m *Machine) Recall(r *protocol.FinishedRecord) {
	m.finished.Add(r)
	m.endings.Add(protocol.EndedJob{
		UniqueID: r.Job.UniqueID, RunKey: r.Job.RunKey, Generation: r.Generation, Outcome: string(jobFinished), Rank: -1,
		Total: int(r.Total), Ended: r.At.UTC().Round(0), Model: hex.EncodeToString(r.Model[:]),
	})
}

// abandoned returns the cause by which a running job without ranks has ended.
func (j *job) abandoned() protocol.Cause {
	why := j.lastEnd.cause
	if why == (protocol.Cause{}) {
		why.Rank = -1
	}
	why.Why = strings.TrimPrefix(why.Why+"; all ranks were lost, and another job has replaced it", "; ")
	return why
}

// lastDeparture returns the cause by which a filling job without ranks has ended: the departure of
// its last rank.
func (j *job) lastDeparture() protocol.Cause {
	why := protocol.Cause{Rank: -1, Why: "all ranks left before the start"}
	var last time.Time
	for _, r := range sortedRanks(j.departed) {
		if f := j.departed[r]; f.at.After(last) {
			why, last = protocol.Cause{Rank: r, Host: f.host, Why: "all ranks left before the start, this one last: " + f.why}, f.at
		}
	}
	return why
}
