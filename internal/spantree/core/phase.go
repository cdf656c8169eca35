// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"

	"github.com/gvw-project/gvw/internal/invariant"
)

// phase is a part of the life of a job:
//
//	filling ──▶ wired ──▶ ending ──▶ (removed)
//	             ▲ │         ▲
//	             │ ▼         │
//	          recovering ────┘
//
// A job that recovers from losses goes from wired to recovering and back any number of times.
// COMPLETE may cross EPOCH_END, so a job may end while it recovers. If all COMPLETE ranks of an
// ending job are lost, the job is wired again ([Machine.reopen]). A job may fail in any phase.
// A job that has failed or finished is removed from the machine, which keeps its outcome.
type phase int

const (
	filling    phase = iota // ranks join; in a job with vw workers also while these are wired
	wired                   // the epoch runs
	recovering              // the epoch has ended, and the next one has not begun
	ending                  // a rank is COMPLETE
	failed                  // the final EPOCH_END was sent
	phases                  // their number
)

func (p phase) String() string {
	return [...]string{"filling", "wired", "recovering", "ending", "failed"}[p]
}

// nextPhases are the phases that may follow each phase. A restarted server wires a job that fills
// or recovers, when a rank reports an epoch that the server does not know ([Machine.adoptEpoch]).
var nextPhases = [phases][]phase{
	filling:    {wired, failed},
	wired:      {recovering, ending, failed},
	recovering: {wired, ending, failed},
	ending:     {wired, failed},
}

// phaseChanges counts the changes from each phase to each other one. Tests compare it with
// nextPhases.
type phaseChanges [phases][phases]int

// enter moves a job to a phase. It does nothing if the job is in that phase.
func (m *Machine) enter(j *job, to phase) {
	if j.phase == to {
		return
	}
	if invariant.Enabled {
		invariant.Check(slices.Contains(nextPhases[j.phase], to), "spantree: job %v goes from %v to %v", j.id, j.phase, to)
	}
	m.phaseChanges[j.phase][to]++
	switch j.phase {
	case filling:
		j.fill = fillState{}
	case ending:
		if to == wired {
			j.finish = finishState{}
		}
	}
	j.phase = to
}
