// SPDX-License-Identifier: Apache-2.0

package core

import (
	"cmp"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// point is a completed step: its number, and the epoch in which it was completed. A step without an
// epoch is that of a checkpoint. The zero point is the beginning.
type point struct {
	epoch protocol.Epoch
	step  uint64
}

// compare orders points by epoch, then by step. Incarnations have no order.
func (p point) compare(q point) int {
	return cmp.Or(p.epoch.Compare(q.epoch), cmp.Compare(p.step, q.step))
}

// resumePoint returns where the next epoch starts: at the newest step that any live holder has
// completed, else at the checkpoint of rank 0, else at the beginning. missing lists the holders
// that cannot start there at once, with the data that they need and their sources.
//
// Only answers to EPOCH_END count. New attempts have no step, standbys are no sources, and
// heartbeats are out of date.
func (j *job) resumePoint() (from point, missing []protocol.Missing) {
	all := j.members()
	for _, a := range all {
		if a.position.compare(from) > 0 {
			from = a.position
		}
	}
	if from == (point{}) {
		return j.checkpoint(all)
	}
	usual := sourceOf(all, from)
	for _, a := range all {
		if a.position != from {
			source := cmp.Or(j.sourceFor(a, all, from, usual), usual) // nil is excluded by stranded
			missing = append(missing, protocol.Missing{Rank: a.rank, Source: source.rank, Payload: j.payloadFor(a, source, from)})
		}
	}
	return from, missing
}

// checkpoint returns the resume point of a job without a live rank that has a state.
func (j *job) checkpoint(all []*attempt) (from point, missing []protocol.Missing) {
	first := j.holders[0]
	if first == nil || first.checkpoint == 0 {
		return from, nil
	}
	for _, a := range all {
		what := protocol.PayloadState
		if a == first {
			what = protocol.PayloadCheckpoint
		}
		missing = append(missing, protocol.Missing{Rank: a.rank, Source: 0, Payload: what})
	}
	return point{step: first.checkpoint}, missing
}

// sourceOf returns the lowest rank at a point that has the step's results; if none has them, the
// lowest rank at the point.
func sourceOf(all []*attempt, from point) (source *attempt) {
	for _, a := range all {
		if a.position == from && (source == nil || !source.hasResults() && a.hasResults()) {
			source = a
		}
	}
	return source
}

// hasResults reports whether an attempt has the results of its newest completed step: it has taken
// part in the step, and has not fetched the state since.
func (a *attempt) hasResults() bool {
	return a.position.epoch != protocol.Epoch{} && a.position != a.fetchedState
}

// payloadFor returns the data that an attempt needs from a source at a point. A member of the epoch
// that has ended is at most one step behind the others. The results of that step are enough for it,
// if the source has them.
func (j *job) payloadFor(a, source *attempt, from point) protocol.Payload {
	if a.wired == j.epoch && a.position.step+1 == from.step && source.hasResults() {
		return protocol.PayloadResults
	}
	return protocol.PayloadState
}
