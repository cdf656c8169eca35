// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Wait is a group of ranks that wait for the same rank, directly or through each other.
type Wait struct {
	On    int           // rank that all of them wait for
	Ranks []int         // that wait, in ascending order
	Since time.Duration // beginning of the longest wait, since the job was opened
	Text  string        // all of it in one sentence
}

// Chain returns the ranks that wait for each other, beginning with a rank: each waits for the next
// one. It ends with a rank that waits for no other, or at the first repetition.
func (j *Job) Chain(rank int) []int {
	var chain []int
	for rank >= 0 && rank < len(j.Ranks) && !slices.Contains(chain, rank) {
		chain = append(chain, rank)
		rank = j.Ranks[rank].waitsFor()
	}
	return chain
}

// waitsFor returns the rank that a rank waits for or exchanges with; -1: none.
func (r *Rank) waitsFor() int {
	if len(r.Spans) == 0 {
		return -1
	}
	return int(r.Spans[len(r.Spans)-1].For)
}

// end returns the last rank of the chain that begins with a rank. ends has those that are known; it
// makes a chain through all ranks cost no more than their number.
func (j *Job) end(rank int, ends []int) int {
	var path []int
	for at := rank; ; {
		path = append(path, at)
		next := j.Ranks[at].waitsFor()
		switch {
		case next < 0 || next >= len(j.Ranks):
			rank = at
		case ends[next] >= 0:
			rank = ends[next]
		case ends[next] == visiting: // a cycle, of heartbeats of different times
			rank = at
		default:
			ends[at], at = visiting, next
			continue
		}
		break
	}
	for _, at := range path {
		ends[at] = rank
	}
	return rank
}

const (
	unvisited = -1
	visiting  = -2
)

// Waits returns the groups of waiting ranks, the longest wait first. Before an epoch begins, ranks wait for those that have not
// read their data, and for missing ones.
func (j *Job) Waits() []Wait {
	if j.Ended != nil {
		return nil
	}
	if j.Status.State == "filling" || j.Status.State == "recovering" {
		return j.startWaits()
	}
	ends := slices.Repeat([]int{unvisited}, len(j.Ranks))
	by := map[int]*Wait{}
	for i := range j.Ranks {
		r := &j.Ranks[i]
		if r.Phase() != Waiting {
			continue
		}
		on := j.end(i, ends)
		if j.Ranks[on].Phase() == Waiting { // a cycle: the heartbeats are of different times
			continue
		}
		w := by[on]
		if w == nil {
			w = &Wait{On: on, Since: r.Since()}
			by[on] = w
		}
		w.Ranks = append(w.Ranks, i)
		w.Since = min(w.Since, r.Since())
	}
	var all []Wait
	for _, w := range by {
		w.Text = j.sentence(w)
		all = append(all, *w)
	}
	slices.SortFunc(all, func(a, b Wait) int { return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.On, b.On)) })
	return all
}

// maxStartWaits limits the ranks that are named with what they do before an epoch begins.
const maxStartWaits = 16

// startWaits returns what ranks that are ready wait for before an epoch begins: a group for each rank that is not.
func (j *Job) startWaits() (all []Wait) {
	var ready []int
	since := time.Duration(0)
	for i := range j.Ranks {
		if r := &j.Ranks[i]; r.Phase() == Ready {
			if len(ready) == 0 || r.Since() < since {
				since = r.Since()
			}
			ready = append(ready, i)
		}
	}
	for i := range j.Ranks {
		r := &j.Ranks[i]
		if len(ready) == 0 || len(all) == maxStartWaits {
			break
		}
		if p := r.Phase(); p != Loading && p != Absent {
			continue
		}
		w := Wait{On: i, Ranks: ready, Since: max(since, r.Since())}
		w.Text = j.sentence(&w)
		all = append(all, w)
	}
	slices.SortStableFunc(all, func(a, b Wait) int { return cmp.Compare(a.Since, b.Since) })
	return all
}

// sentence returns a group in words: who waits, since when, for whom, and what that rank does.
func (j *Job) sentence(w *Wait) string {
	verb := "wait"
	if len(w.Ranks) == 1 {
		verb = "waits"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %v for %s: %s", protocol.Ranks(w.Ranks), verb, max(j.Now-w.Since, 0).Round(time.Second), j.at(w.On), j.activity(w.On))
	return b.String()
}

// activity returns what a rank does, in words.
func (j *Job) activity(rank int) string {
	r := &j.Ranks[rank]
	s := &r.Status
	text := r.Phase().String()
	if r.Phase() == Computing && s.Step != "" && s.Steps > 0 { // with shared vectors there are no steps
		text += fmt.Sprintf(" after step %d (%s)", s.Steps, plain.Text(s.Step))
	}
	if t := s.Traffic; t != nil && t.Rounds.Sent > 0 {
		text += fmt.Sprintf(", round %d", t.Rounds.Sent)
	}
	if r.Present && s.Silent >= 3 {
		text += fmt.Sprintf(", silent for %.0f s", s.Silent)
	}
	return text
}

// at names a rank with its host.
func (j *Job) at(rank int) string {
	if rank < 0 || rank >= len(j.Ranks) || j.Ranks[rank].Status.Host == "" {
		return fmt.Sprintf("rank %d", rank)
	}
	return fmt.Sprintf("rank %d on %s", rank, plain.Text(j.Ranks[rank].Status.Host))
}
