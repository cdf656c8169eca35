// SPDX-License-Identifier: Apache-2.0

package core

import (
	"cmp"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A point is a completed step: its number, and the epoch in which it was
// completed. Without an epoch and with a step it is a checkpoint's; the zero
// point is the beginning.
type point struct {
	epoch protocol.Epoch
	step  uint64
}

// compare orders points by epoch, then step. Incarnations have no order.
func (p point) compare(q point) int {
	return cmp.Or(p.epoch.Compare(q.epoch), cmp.Compare(p.step, q.step))
}

// origin is where the next epoch begins: the newest step that any live holder
// has completed; if there is none the checkpoint of rank 0, or the beginning.
// lacks says who cannot begin there at once, and what it needs from whom.
//
// Only what holders have answered to EPOCH_END counts here. A newcomer has nothing, a
// standby is nobody's source, and heartbeats are always out of date.
func (j *job) resumePoint() (from point, lacks []protocol.Missing) {
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
			source := cmp.Or(j.sourceFor(a, all, from, usual), usual) // stranded tells
			lacks = append(lacks, protocol.Missing{Rank: a.rank, Source: source.rank, Payload: j.payloadFor(a, source, from)})
		}
	}
	return from, lacks
}

// checkpoint is the origin of a job in which nobody alive has a state.
func (j *job) checkpoint(all []*attempt) (from point, lacks []protocol.Missing) {
	first := j.holders[0]
	if first == nil || first.checkpoint == 0 {
		return from, nil
	}
	for _, a := range all {
		what := protocol.PayloadState
		if a == first {
			what = protocol.PayloadCheckpoint
		}
		lacks = append(lacks, protocol.Missing{Rank: a.rank, Source: 0, Payload: what})
	}
	return point{step: first.checkpoint}, lacks
}

// sourceOf is the lowest rank at a point; if there is one, the lowest that
// holds the step's results, too.
func sourceOf(all []*attempt, from point) (source *attempt) {
	for _, a := range all {
		if a.position == from && (source == nil || !source.hasResults() && a.hasResults()) {
			source = a
		}
	}
	return source
}

// hasResults tells that an attempt holds the results of the step it completed
// last: it was there, and has not been given the state afterwards.
func (a *attempt) hasResults() bool {
	return a.position.epoch != protocol.Epoch{} && a.position != a.fetchedState
}

// lacking is what an attempt needs from a source that is at a point. A member
// of the epoch that is over is at most one step behind the others: the results
// of that step are enough for it, where they are still to be had.
func (j *job) payloadFor(a, source *attempt, from point) protocol.Payload {
	if a.wired == j.epoch && a.position.step+1 == from.step && source.hasResults() {
		return protocol.PayloadResults
	}
	return protocol.PayloadState
}
