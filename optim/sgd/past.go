// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"math"
	"slices"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/invariant"
	"github.com/gvw-project/gvw/internal/mem"
)

// Past is a learner's weights as they were at Remember, while the learner changes them.
//
// A pass over sparse data changes a small part of a large table, so weights are noted
// before their first change. That it is the first is seen in the weight itself, since
// nothing else of this size would be in the processor's cache: its rate is 0 until an
// update stores one. Where the rule keeps no rate per weight, or where much changes, Past
// is a copy of the whole table.
//
// The zero Past is ready. It is for the goroutine of its learner.
type Past struct {
	w     []float32    // the table as it is now
	at    []uint32     // weights that are noted; one may be there again
	old   [][4]float32 // as they were, the first one of each
	seen  int          // features for which note has looked at a weight
	whole []float32    // memory for the copy; nil: none was needed yet
	done  bool         // whole is the past: nothing is noted any more
	much  bool         // passes over this data change many weights
}

// Past copies the whole table if more than one in mostOf weights change, or more than one in muchOf while the learner
// looks at lookOf times as many features as there are weights. The copy then takes less time than the notes, and its memory
// is that of the table.
const (
	mostOf = 4
	muchOf = 8
	lookOf = 2
)

// NotesBytes returns the greatest memory in bytes for the notes of a table of this many floats.
func NotesBytes(floats uint64) uint64 { return floats / 4 / mostOf * (4 + 16) }

// MarkedBy returns the slot of a weight that must be 0 in all weights when a learner of this
// rule begins to remember them; 0: no slot.
func (c *Config) MarkedBy() int {
	if c.Adaptive && c.Normalized && c.SparseL2 == 0 && !c.regular() {
		return normalized + 1
	}
	return 0
}

// Remember makes p keep the current weights; nil stops it.
func (l *Learner) Remember(p *Past) {
	if l.past = p; p == nil {
		return
	}
	p.w, p.at, p.old, p.done = l.t.w, p.at[:0], p.old[:0], false
	p.seen = 0
	mark := l.cfg.MarkedBy()
	if mark == 0 || p.much {
		p.Whole()
		return
	}
	if invariant.Enabled {
		for i := range l.t.cells {
			if v := l.t.cells[i][mark]; v != 0 {
				invariant.Check(false, "sgd: weight %d is marked by %v before it has changed", i, v)
			}
		}
	}
}

// Whole returns all weights as they were. They are valid until the learner remembers others.
func (p *Past) Whole() []float32 {
	if p.done {
		return p.whole
	}
	if len(p.whole) != len(p.w) {
		p.whole = make([]float32, len(p.w))
		mem.Huge(p.whole) // the copy writes all of it at once, so huge pages save faults
	}
	copy(p.whole, p.w)
	for i, at := range slices.Backward(p.at) {
		*(*[4]float32)(p.whole[4*int(at):]) = p.old[i]
	}
	p.done = true
	return p.whole
}

// grow makes room for n more notes, and at first for as many as precede a copy of the table: only those that are written
// take memory.
func (p *Past) grow(n int) {
	n += max(len(p.at), len(p.w)/4/mostOf)
	at, old := make([]uint32, n), make([]float32, 4*n)
	mem.Huge(mem.Floats(at))
	mem.Huge(old)
	cells := mem.Cells(old)
	copy(at, p.at)
	copy(cells, p.old)
	p.at, p.old = at[:len(p.at)], cells[:len(p.old)]
}

// note copies the weights of fs that have not changed yet.
func (p *Past) note(t *table, fs []feature.Feature) {
	if p.done {
		return
	}
	n := len(p.at)
	if n+len(fs) > cap(p.at) {
		p.grow(len(fs))
	}
	at, old := p.at[:n+len(fs)], p.old[:n+len(fs)]
	for i := range fs {
		c := &t.cells[fs[i].Index]
		at[n], old[n] = t.from+fs[i].Index, *c
		// Without a branch, which would be unpredictable: 0 is the only value whose bits minus
		// one wrap around.
		n += int((uint64(math.Float32bits(c[normalized+1])) - 1) >> 63)
	}
	p.at, p.old = at[:n], old[:n]
	p.seen += len(fs)
	if cells := len(p.w) / 4; n > cells/mostOf || n > cells/muchOf && p.seen > lookOf*cells {
		p.much = true
		p.Whole()
	}
}
