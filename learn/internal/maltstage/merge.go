// SPDX-License-Identifier: Apache-2.0

package maltstage

import (
	"math"
	"slices"

	"github.com/gvw-project/gvw/malt"
)

// entry collects the updates of one weight in a merge.
type entry struct {
	index   uint32
	largest float32
	whole   mean // of weights
	deltas  mean

	from  int  // sender of the last update; -1: none
	over  bool // its newer weights contain all older updates
	delta bool // a delta of it counts
}

// mean sums states, or deltas.
type mean struct {
	ranks                     float64 // that have sent one
	w, weighted, sum, squares float64 // Σw, ΣG·w, ΣG, ΣG²
}

// add adds the state of a further rank.
func (a *mean) add(s state) {
	a.ranks++
	a.more(s, 1)
}

// more adds a further delta of a rank, times a factor.
func (a *mean) more(s state, factor float64) {
	w, sum := float64(s.w)*factor, float64(s.sum)*factor
	a.w += w
	a.sum += sum
	a.weighted += sum * w
	a.squares += sum * sum
}

// state returns the mean of weights. With adaptive sums it is vw's (accumulate_weighted_avg).
func (a *mean) state(adaptive bool) (w, sum float32) {
	if adaptive && a.sum > 0 {
		return float32(a.weighted / a.sum), float32(a.squares / a.sum)
	}
	return float32(a.w / a.ranks), float32(a.sum / a.ranks)
}

// meanWith returns s, which has the delta d of this rank, with the mean of all deltas instead. counts reports
// that d counts in the mean.
func (a *mean) meanWith(s, d state, counts bool) state {
	ranks := a.ranks
	if counts {
		ranks++
	}
	s.w += float32((a.w+float64(d.w))/ranks) - d.w
	s.sum += float32((a.sum+float64(d.sum))/ranks) - d.sum
	return s
}

// sumWith returns s, which has the delta d of this rank, with all deltas. The learning rate of a weight falls with
// G, so a rank whose G did not have the gradients of the others has made too long a step. Each delta is
// therefore scaled by the G of its rank over that of all. Where G is new, the result is a mean, as in vw's
// average; later it becomes the sum.
func (a *mean) sumWith(s, d state, adaptive bool) state {
	w, sum := a.w, a.sum
	if before := float64(s.sum - d.sum); adaptive && before+float64(d.sum)+sum > 0 {
		scaled := before*(w+float64(d.w)) + a.weighted + float64(d.sum)*float64(d.w)
		w = scaled/(before+float64(d.sum)+sum) - float64(d.w)
	}
	s.w += float32(w)
	s.sum += float32(sum)
	return s
}

// merge merges updates, which come by sender and oldest first, into the learner's table.
func (m *mixer) merge(in []malt.Incoming[float32]) {
	t := &m.table
	all := false // an update has all weights
	// Of a sender's weights the newest count, so the updates are taken from the last one.
	for _, u := range slices.Backward(in) {
		k := len(u.Values) / t.slots
		if len(u.Values) == 0 {
			continue
		}
		weights := m.sendsWeights(u.Iteration)
		all = all || u.Indices == nil
		for j := range k {
			i := uint32(j)
			if u.Indices != nil {
				i = u.Indices[j]
			}
			if int(i) >= t.n {
				break // no sender of this package writes such an update
			}
			m.entry(i).collect(u.Rank, weights, t.read(u.Values, j, k), u.Factor)
		}
	}
	if m.outer != nil {
		for _, i := range m.sent.list {
			m.entry(i)
		}
	}
	for k := range m.union {
		e := &m.union[k]
		m.apply(e, all)
		m.at[e.index] = 0
	}
	m.union = m.union[:0]
}

// entry returns the entry of weight i.
func (m *mixer) entry(i uint32) *entry {
	if m.at[i] == 0 {
		m.union = append(m.union, entry{index: i, from: -1})
		m.at[i] = uint32(len(m.union))
	}
	return &m.union[m.at[i]-1]
}

// collect adds an update of a weight. Of each sender the newest update comes first.
func (e *entry) collect(from int, weights bool, s state, factor float64) {
	e.largest = max(e.largest, s.largest)
	if e.from != from {
		e.from, e.over, e.delta = from, false, false
	}
	switch {
	case e.over:
	case weights:
		e.whole.add(s)
		e.over = true
	default:
		if !e.delta {
			e.delta = true
			e.deltas.ranks++
		}
		e.deltas.more(s, factor)
	}
}

// forwardFrom is the relative change of a weight from which a merge makes the next round send it on. Below it, ranks
// count as equal, so that updates do not circulate for ever.
const forwardFrom = 1e-3

// apply merges the updates of a weight. all reports that some update has all weights.
func (m *mixer) apply(e *entry, all bool) {
	t, i := &m.table, e.index
	own := t.get(i)
	s := own
	s.largest = max(own.largest, e.largest)
	counts := all || !m.cfg.aligned() || m.sent.has(i)
	if e.whole.ranks > 0 {
		if counts {
			e.whole.add(own)
		}
		s.w, s.sum = e.whole.state(t.adaptive)
	}
	if e.deltas.ranks > 0 {
		var d state // what this rank has learned since its last round
		if m.sent.has(i) {
			d = own.minus(m.base[i])
		}
		if m.cfg.Send == Deltas {
			s = e.deltas.meanWith(s, d, all || m.sent.has(i))
		} else {
			s = e.deltas.sumWith(s, d, t.adaptive)
		}
	}
	s.sum = max(s.sum, 0)
	if t.adaptive && s.sum == 0 {
		s.sum = own.sum // a rate is a power of the sum, which is above 0 once a weight has learned
	}
	if m.outer != nil {
		s.w = m.outer.Next(int(i), s.w)
	}
	if s != own {
		t.put(i, s)
	}
	if m.base != nil {
		m.base[i] = s
	}
	if m.forwards && math.Abs(float64(s.w-own.w)) > forwardFrom*math.Abs(float64(s.w)) {
		m.forward(i)
	}
}

// forward makes the next round with weights send weight i.
func (m *mixer) forward(i uint32) {
	if m.cfg.Send == Models {
		m.changed.add(i)
	} else {
		m.whole.add(i)
	}
}
