// SPDX-License-Identifier: Apache-2.0

package history

import (
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Phase is what a rank does. The numbers are part of the page's stream of events.
type Phase uint8

// The phases of a rank.
const (
	Absent     Phase = iota // it has not joined, or it is lost
	Loading                 // it reads its data
	Ready                   // it has read its data, and waits until all ranks have
	Computing               // it works between two collectives
	Exchanging              // it is in a collective
	Waiting                 // it is in a collective that the rank it waits for has certainly not entered
	Complete                // its last step is completed
	Removed                 // the job continues without it
)

// Phases are the names of the phases, by their number.
var Phases = [...]string{"absent", "loading data", "ready", "computing", "exchanging", "waiting", "complete", "removed"}

func (p Phase) String() string { return Phases[p] }

// Span is a phase of a rank, which lasts until the next span begins.
type Span struct {
	At    time.Duration // since the job was opened
	Phase Phase
	For   int32 // rank that it waits for, of Exchanging and Waiting; -1: none
}

// phaseOf returns the phase of an attempt, and the rank that it waits for. of returns the newest
// status of a rank, or nil.
//
// The heartbeats of two ranks have different times. A rank certainly waits if the other one has sent
// something since the rank's first heartbeat in the collective, and had not entered it.
func phaseOf(j *protocol.JobStatus, r *protocol.RankStatus, of func(rank int) *protocol.RankStatus) (Phase, int32) {
	switch {
	case r.State == "complete":
		return Complete, -1
	case r.State == "joined":
		return Loading, -1
	case j.State == "filling" || j.State == "recovering":
		return Ready, -1
	case r.WaitsFor == nil:
		if r.Collective > 0 {
			return Exchanging, -1
		}
		return Computing, -1
	}
	if r.Collective == 0 { // shared vectors: the update of that rank is missing
		return Waiting, int32(*r.WaitsFor)
	}
	// A rank whose peer waits for a third one waits for that, too.
	for at, hops := of(*r.WaitsFor), 0; hops < maxHops; hops++ {
		if at == nil || at.State == "joined" || at.Collective < r.Collective && at.Silent < r.WaitsSeconds {
			return Waiting, int32(*r.WaitsFor)
		}
		if at.WaitsFor == nil {
			break
		}
		at = of(*at.WaitsFor)
	}
	return Exchanging, int32(*r.WaitsFor)
}

// maxHops limits the chain of waiting ranks that is followed. A tree of 4096 ranks has 12 levels.
const maxHops = 64
