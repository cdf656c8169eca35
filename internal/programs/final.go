// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"slices"

	"github.com/gvw-project/gvw/malt"
)

// final averages the models of all ranks after training. Its vector has the values of all vectors of the job, and
// behind them a mark: 1 if they are the average, and 0 if they are the model of this rank.
//
// Ranks send and merge in turns, each of which is a round of the vector:
//
//   - A rank that gets the models of all others averages them with its own.
//   - A rank that gets an average takes it over.
//   - A rank with the average whose updates of a turn all have the mark is done.
//
// The loss of a rank may interrupt a turn in which only some of the others get the average. They send it in the next
// turns, and are done when the others have it.
type final struct {
	group   *malt.Group
	vector  *malt.Vector[float32]
	members []int // at the beginning of the turn
	marked  int   // of them, the other ranks whose update of the turn has the mark
	lacking bool  // an update of the turn has no mark
}

// newFinal creates the vector for values of a total length.
func newFinal(g *malt.Group, length int) (*final, error) {
	v, err := malt.NewVector[float32](g, "final", length+1, malt.VectorConfig{MaxSparse: 1, ObjectConfig: malt.ObjectConfig{Sync: "bsp"}})
	return &final{group: g, vector: v}, err
}

// average replaces the values of vectors by their average over all ranks.
func (f *final) average(ctx context.Context, vectors []*malt.Vector[float32]) error {
	all := f.vector.Values()
	at := 0
	for _, v := range vectors {
		at += copy(all[at:], v.Values())
	}
	if err := f.agree(ctx); err != nil {
		return err
	}
	at = 0
	for _, v := range vectors {
		at += copy(v.Values(), all[at:])
	}
	return nil
}

// agree takes turns until all ranks have the average.
func (f *final) agree(ctx context.Context) error {
	began := 0     // the membership in which the last turn began; 0: none
	turns := 0     // the newest turns that were within that membership
	brief := false // the next update is the mark only
	for ctx.Err() == nil {
		epoch := f.group.Epoch()
		if f.members = f.group.Members(); len(f.members) == 1 {
			return nil
		}
		if err := f.send(ctx, brief); err != nil {
			return err
		}
		// This update is of another membership than the last one if the turn was interrupted.
		if f.group.Epoch() == began {
			turns++
		} else {
			turns = 0
		}
		// Updates of the last turn were missing. Either their senders are done, or they began this membership in a later
		// round than this rank. Each membership before can have put them ahead by one round, and none is ahead any more.
		if f.has() && !f.lacking && turns >= began {
			return nil
		}
		had := f.has()
		began, f.marked, f.lacking = epoch, 0, false
		if _, err := f.vector.Gather(ctx, f.merge); err != nil {
			return err
		}
		if f.has() && f.marked == len(f.members)-1 {
			return nil
		}
		brief = f.has() && !had
	}
	return context.Cause(ctx)
}

// send sends the values and the mark, or only the mark.
func (f *final) send(ctx context.Context, brief bool) error {
	if !brief {
		return f.vector.Scatter(ctx)
	}
	values := f.vector.Values()
	last := len(values) - 1
	return f.vector.ScatterSparse(ctx, []uint32{uint32(last)}, values[last:])
}

// has reports whether this rank has the average.
func (f *final) has() bool { return isMarked(f.vector.Values()) }

// isMarked reports whether an update, with all values or only the mark, is that of a rank with the average.
func isMarked(values []float32) bool { return values[len(values)-1] == 1 }

// merge takes over the average of the lowest rank that has sent it, or averages the models of all ranks.
func (f *final) merge(v *malt.Vector[float32], in []malt.Incoming[float32]) {
	models := 0
	for i, u := range in {
		if i+1 < len(in) && in[i+1].Rank == u.Rank {
			continue // there is a newer one
		}
		_, isMember := slices.BinarySearch(f.members, u.Rank)
		switch {
		case !isMarked(u.Values):
			f.lacking = true
			if isMember {
				models++
			}
			continue
		case isMember:
			f.marked++
		}
		if u.Indices == nil && !f.has() {
			copy(v.Values(), u.Values)
		}
	}
	if !f.has() && models == len(f.members)-1 {
		malt.AverageIncludingSelf(v, in)
		values := v.Values()
		values[len(values)-1] = 1
	}
}
