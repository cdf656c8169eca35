// SPDX-License-Identifier: Apache-2.0

package resume

import (
	"cmp"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Point is a completed step: its number, and the epoch in which it was completed. A step without an
// epoch is that of a checkpoint. The zero Point is the beginning.
type Point struct {
	Epoch protocol.Epoch
	Step  uint64
}

// Compare orders points by epoch, then by step. Incarnations have no order.
func (p Point) Compare(q Point) int {
	return cmp.Or(p.Epoch.Compare(q.Epoch), cmp.Compare(p.Step, q.Step))
}

// Member is a rank of the next epoch.
type Member struct {
	Rank       int
	At         Point  // newest completed step; zero: none
	Fetched    Point  // point for which it has fetched the state, not the results; zero: none
	Current    bool   // it is a member of the epoch that has ended
	Checkpoint uint64 // step of its checkpoint, of rank 0 only; 0: none
}

// HasResults reports whether a member has the results of its newest completed step: it has taken
// part in the step, and has not fetched the state since.
func (m Member) HasResults() bool { return m.At.Epoch != protocol.Epoch{} && m.At != m.Fetched }

// Find returns where the next epoch starts: at the newest step that any member has completed, else
// at the checkpoint of rank 0, else at the beginning. missing lists the members that cannot start
// there at once, with the data that they need and their sources. A member that is cut off from all
// sources gets the source of the others.
//
// all are the members by rank. Only answers to EPOCH_END count as their points: new attempts have
// no step, standbys are no sources, and heartbeats are out of date.
func Find(all []Member, paths Paths) (from Point, missing []protocol.Missing) {
	for _, m := range all {
		if m.At.Compare(from) > 0 {
			from = m.At
		}
	}
	if from == (Point{}) {
		return Checkpoint(all)
	}
	var at []Member
	for _, m := range all {
		if m.At == from {
			at = append(at, m)
		}
	}
	usual := usualSource(at)
	for _, m := range all {
		if m.At == from {
			continue
		}
		source := usual
		if paths(m.Rank, usual.Rank) != Clear {
			if best, ok := Source(m.Rank, at, paths); ok {
				source = best
			}
		}
		missing = append(missing, protocol.Missing{Rank: m.Rank, Source: source.Rank, Payload: Payload(m, source, from)})
	}
	return from, missing
}

// Checkpoint returns the resume point of a job without a live rank that has a state.
func Checkpoint(all []Member) (from Point, missing []protocol.Missing) {
	if len(all) == 0 || all[0].Rank != 0 || all[0].Checkpoint == 0 {
		return from, nil
	}
	for _, m := range all {
		what := protocol.PayloadState
		if m.Rank == 0 {
			what = protocol.PayloadCheckpoint
		}
		missing = append(missing, protocol.Missing{Rank: m.Rank, Source: 0, Payload: what})
	}
	return Point{Step: all[0].Checkpoint}, missing
}

// Payload returns the data that a member needs from a source at a point. A member of the epoch that
// has ended is at most one step behind the others. The results of that step are enough for it, if
// the source has them.
func Payload(m, source Member, from Point) protocol.Payload {
	if m.Current && m.At.Step+1 == from.Step && source.HasResults() {
		return protocol.PayloadResults
	}
	return protocol.PayloadState
}
