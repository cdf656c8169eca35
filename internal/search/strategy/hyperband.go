// SPDX-License-Identifier: Apache-2.0

package strategy

import "slices"

// Hyperband runs brackets of successive halving, which differ in the number of trials and in the
// least amount of the resource. A rung is promoted when all its trials have finished; meanwhile
// the next bracket begins.
type Hyperband struct {
	cfg      Config
	sampled  int
	brackets []*bracket
}

// bracket is one run of successive halving.
type bracket struct {
	left  int // trials that have not begun
	rungs []rung
}

// rung is the jobs of a bracket that have the same amount of the resource.
type rung struct {
	resource int
	jobs     int // that have begun
	done     []finished
	promote  int // trials that continue; set when the rung is complete
}

// NewHyperband returns a search by Hyperband.
func NewHyperband(cfg Config) *Hyperband { return &Hyperband{cfg: cfg} }

// Next returns a job of the first bracket that has one.
func (h *Hyperband) Next() (Job, bool) {
	for _, b := range h.brackets {
		if j, ok := h.of(b); ok {
			return j, true
		}
	}
	if h.sampled == h.cfg.Trials {
		return Job{}, false
	}
	h.open()
	return h.of(h.brackets[len(h.brackets)-1])
}

// open begins the next bracket. After the last kind of bracket the first one follows again, until all
// trials have begun.
func (h *Hyperband) open() {
	kinds := len(h.cfg.Rungs)
	s := kinds - 1 - len(h.brackets)%kinds // halvings of this bracket
	n := 1
	for range s {
		n *= h.cfg.Eta
	}
	n = (kinds*n + s) / (s + 1)        // ceil((smax+1)·eta^s / (s+1))
	n = min(n, h.cfg.Trials-h.sampled) // all trials of earlier brackets have begun
	b := &bracket{left: n}
	for _, r := range h.cfg.Rungs[kinds-1-s:] {
		b.rungs = append(b.rungs, rung{resource: r})
	}
	h.brackets = append(h.brackets, b)
}

// of returns the next job of a bracket.
func (h *Hyperband) of(b *bracket) (Job, bool) {
	if b.left > 0 {
		b.left--
		h.sampled++
		b.rungs[0].jobs++
		return h.cfg.sample(h.sampled-1, b.rungs[0].resource), true
	}
	for k := range b.rungs[:len(b.rungs)-1] {
		r, above := &b.rungs[k], &b.rungs[k+1]
		if above.jobs >= r.promote {
			continue
		}
		if i := promotable(r.done, r.promote); i >= 0 {
			r.done[i].promoted = true
			above.jobs++
			j := r.done[i].Job
			j.Resource = above.resource
			return j, true
		}
	}
	return Job{}, false
}

// Report adds a loss to the rung of its bracket. Failed trials of a complete rung leave fewer than
// 1/Eta to promote if too few have succeeded.
func (h *Hyperband) Report(j Job, loss float64) {
	at, before := 0, 0
	for j.Trial >= before+h.brackets[at].trials() {
		before += h.brackets[at].trials()
		at++
	}
	b := h.brackets[at]
	k := slices.IndexFunc(b.rungs, func(r rung) bool { return r.resource == j.Resource })
	b.rungs[k].done = insert(b.rungs[k].done, finished{Job: j, loss: loss})
	// A rung is complete when all that it can get have finished, from the lowest on.
	expected := b.trials()
	for i := range b.rungs {
		r := &b.rungs[i]
		if len(r.done) < expected {
			return
		}
		if r.promote == 0 && expected > 0 {
			r.promote = min(max(1, expected/h.cfg.Eta), succeeded(r.done))
		}
		expected = r.promote
	}
}

// trials returns the number of trials of a bracket.
func (b *bracket) trials() int { return b.left + b.rungs[0].jobs }

// succeeded returns the number of jobs that have not failed.
func succeeded(jobs []finished) (n int) {
	for _, f := range jobs {
		if !f.failed() {
			n++
		}
	}
	return n
}
