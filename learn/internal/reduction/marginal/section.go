// SPDX-License-Identifier: Apache-2.0

package marginal

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/gvw-project/gvw/learn/internal/reduction"
)

var (
	_ reduction.Sectioned = (*learner)(nil)
	_ reduction.Steady    = (*learner)(nil)
	_ reduction.Growing   = (*learner)(nil)
)

// Steady is for reduction.Steady: only Learn, and Predict after Advance, change the state.
func (l *learner) Steady() {}

// unit is the number of words of state that an id has.
const unit = 6

// StateUnit returns the number of words of an id.
func (l *learner) StateUnit() int { return unit }

func (l *learner) AppendState(dst []uint64) []uint64 {
	for i := range l.records {
		r := &l.records[i]
		dst = append(dst, uint64(r.id), math.Float64bits(r.sum), math.Float64bits(r.weight))
		f := r.floats()
		for i := 0; i < len(f); i += 2 {
			dst = append(dst, uint64(math.Float32bits(*f[i]))<<32|uint64(math.Float32bits(*f[i+1])))
		}
	}
	return dst
}

func (l *learner) SetState(words []uint64) {
	l.records = l.records[:0]
	clear(l.at)
	for ; len(words) >= unit; words = words[unit:] {
		r := l.kept(uint32(words[0]), true)
		r.sum, r.weight = math.Float64frombits(words[1]), math.Float64frombits(words[2])
		f := r.floats()
		for i := 0; i < len(f); i += 2 {
			w := words[3+i/2]
			*f[i], *f[i+1] = math.Float32frombits(uint32(w>>32)), math.Float32frombits(uint32(w))
		}
	}
}

// floats returns the floats of the experts, in the order of a model.
func (r *record) floats() [6]*float32 {
	m, l := &r.experts[0], &r.experts[1]
	return [...]*float32{&m.regret, &m.square, &m.weight, &l.regret, &l.square, &l.weight}
}

// AppendSection appends the ids in ascending order, as vw does, and their experts likewise.
func (l *learner) AppendSection(dst []byte) []byte {
	le := binary.LittleEndian
	order := slices.Clone(l.records)
	slices.SortFunc(order, func(a, b record) int { return int(int64(a.id) - int64(b.id)) })
	dst = le.AppendUint64(dst, uint64(len(order)))
	for i := range order {
		r := &order[i]
		dst = le.AppendUint64(dst, uint64(r.id))
		dst = le.AppendUint64(dst, math.Float64bits(r.sum))
		dst = le.AppendUint64(dst, math.Float64bits(r.weight))
	}
	if !l.competes {
		return dst
	}
	dst = le.AppendUint64(dst, uint64(len(order)))
	for i := range order {
		dst = le.AppendUint64(dst, uint64(order[i].id))
		for _, f := range order[i].floats() {
			dst = le.AppendUint32(dst, math.Float32bits(*f))
		}
	}
	return dst
}

// SetSection takes the ids of a model. If it has experts, these compete.
func (l *learner) SetSection(p []byte) error {
	l.records = l.records[:0]
	clear(l.at)
	le := binary.LittleEndian
	// rows calls f with the bytes of each id, after a count of ids.
	rows := func(size int, f func(r *record, p []byte)) error {
		if len(p) < 8 || le.Uint64(p) > uint64(len(p)-8)/uint64(size) {
			return fmt.Errorf("the means of ids are cut off: %d bytes are left", len(p))
		}
		n := le.Uint64(p)
		for p = p[8:]; n > 0; n, p = n-1, p[size:] {
			id := le.Uint64(p)
			if id > uint64(l.env.Base.Mask()) {
				return fmt.Errorf("id %d is above the largest weight, %d", id, l.env.Base.Mask())
			}
			f(l.kept(uint32(id), true), p[8:])
		}
		return nil
	}
	err := rows(8+16, func(r *record, p []byte) {
		r.sum, r.weight = math.Float64frombits(le.Uint64(p)), math.Float64frombits(le.Uint64(p[8:]))
	})
	if err != nil || len(p) == 0 {
		return err
	}
	l.competes = true
	err = rows(8+24, func(r *record, p []byte) {
		for i, f := range r.floats() {
			*f = math.Float32frombits(le.Uint32(p[4*i:]))
		}
	})
	if err == nil && len(p) > 0 {
		err = fmt.Errorf("%d bytes follow the experts of ids", len(p))
	}
	return err
}
