// SPDX-License-Identifier: Apache-2.0

package avgstage

import (
	"encoding/binary"
	"math"

	"github.com/gvw-project/gvw/optim/masgd"
)

// variates has the control variate of this rank.
type variates struct {
	now  []float32 // of the current round; nil: 0
	next []float32 // of the next round
	made bool      // next has been made in this round
	rate float64   // of the round
	code []byte    // next, in a record
}

// controlled reports whether ranks have control variates. A single rank needs none.
func (m *Stage) controlled() bool { return m.Every.Random > 0 && m.Job.Total > 1 }

// control returns the control variate of this round; nil: none.
func (m *Stage) control() []float32 {
	if !m.controlled() {
		return nil
	}
	if m.varies.now == nil {
		m.varies.now = make([]float32, len(m.state))
	}
	return m.varies.now
}

// vary makes the control variate of the next round. The record of this rank has it, so that a replacement can
// continue with it.
func (m *Stage) vary() {
	if !m.controlled() {
		return
	}
	v, now := &m.varies, m.control()
	if v.next == nil {
		v.next = make([]float32, len(now))
	}
	from := now
	if m.lost { // the sum over the ranks that remain is not 0
		clear(v.next)
		from = v.next
	}
	masgd.Vary(v.next, from, m.work, m.results(), m.Every.Random/v.rate)
	v.made = true
}

// commitVariates makes the next control variate the current one. A rank that has read the results instead of an
// exchange computes it here.
func (m *Stage) commitVariates() {
	v := &m.varies
	if m.controlled() {
		if !v.made {
			m.vary()
		}
		v.now, v.next = v.next, v.now
	}
	v.made, m.lost = false, false
}

// encode returns the control variate that a replacement of this rank continues with.
func (v *variates) encode() []byte {
	h := v.now
	if v.made {
		h = v.next
	}
	v.code = v.code[:0]
	for _, x := range h {
		v.code = binary.LittleEndian.AppendUint32(v.code, math.Float32bits(x))
	}
	return v.code
}

// decode is the inverse of encode.
func (v *variates) decode(code []byte) {
	v.now, v.made = nil, false
	if len(code) == 0 {
		return
	}
	v.now = make([]float32, len(code)/4)
	for i := range v.now {
		v.now[i] = math.Float32frombits(binary.LittleEndian.Uint32(code[4*i:]))
	}
}
