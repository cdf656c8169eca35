// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"fmt"
	"time"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/internal/link"
)

// astrayAfter is how many attempts show that an address of the loopback does not lead
// to a rank of another machine.
const astrayAfter = 10

// view is what is known of where a rank is; with vw workers in the job that is little.
func (w *wirer) view(rank int) address.View {
	v := address.View{Rank: rank}
	if w.wiring.Stream {
		return v
	}
	v.Told = w.wiring.Peers[rank]
	if len(w.wiring.Seen) > 0 {
		v.Seen = w.wiring.Seen[rank]
	}
	return v
}

// advice is what to do when the rank from does not reach the rank of, to be
// appended to what has happened.
func (w *wirer) advice(of, from int) string {
	if w.wiring.Stream {
		return ""
	}
	return "; " + w.view(of).Advice(w.view(from))
}

// notReached keeps why a rank is not reached. It returns an error where further
// attempts are in vain: the wiring fails with it, if the rank is a neighbour in the
// tree. unanswered is since when nobody has answered there; in an epoch that
// follows another one no other limit is set.
func (w *wirer) notReached(rank, tries int, unanswered time.Duration, err error) error {
	final := !w.wiring.Stream && tries >= astrayAfter && w.view(rank).Astray(w.view(w.rank))
	final = final || w.again && unanswered > unansweredFor
	if final {
		err = fmt.Errorf("rank %d: cannot reach rank %d: %w%s", w.rank, rank, err, w.advice(rank, w.rank))
	}
	w.progress(func() {
		w.why[rank] = err
		if final && w.take == nil {
			w.fault, w.lost = err, rank
		}
	})
	if final {
		return err
	}
	return nil
}

// unansweredFor is how long nobody may answer at the address of a rank that lives.
const unansweredFor = 20 * time.Second

// astray is the rank that the wiring failed at.
func (w *wirer) astray() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// whyMissing says why the edge to a rank does not open, as far as this rank knows.
func (w *wirer) whyMissing(rank int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch err := w.why[rank]; {
	case err != nil:
		return err.Error()
	case w.dials(w.rank, rank):
		return "it has not answered"
	}
	return "it has not connected"
}

// absent names a neighbour that is not connected yet, and says what is known; under
// the lock.
func (w *wirer) absent(rank int) string {
	name := link.RankAt(rank, w.wiring.Peers[rank])
	if !w.dials(w.rank, rank) {
		return name + ", which has not connected" + w.advice(w.rank, rank)
	}
	if err := w.why[rank]; err != nil {
		name += fmt.Sprintf(", which this rank has not reached: %v", err)
	}
	return name + w.advice(rank, w.rank)
}
