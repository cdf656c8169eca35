// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// maxSection bounds the bytes of a section.
const maxSection = 1 << 30

// section reads what a learner keeps between the options and the resume flag:
//
//	--boosting with --alg logistic or adaptive: u32 number N of learners, f32 vote of each; adaptive
//	also N f32
func (d *Decoder) section(Limits) error {
	at := d.offset
	n, err := d.Header.sectionSize()
	if err == nil && n > maxSection {
		err = fmt.Errorf("%d bytes, at most %d are allowed", n, maxSection)
	}
	if err != nil {
		return fail(at, "section of the learner", ErrDamaged, "%v", err)
	}
	if n == 0 {
		return nil
	}
	d.Section = make([]byte, n)
	return d.fill(d.Section, "section of the learner")
}

// sectionSize returns the number of bytes of the section.
func (h *Header) sectionSize() (int, error) {
	floats := h.votes()
	if floats == 0 {
		return 0, nil
	}
	n, err := strconv.Atoi(h.Values("boosting")[0])
	if err != nil || n < 1 || n > maxModels {
		return 0, fmt.Errorf("kept option boosting %q is no number of learners", h.Values("boosting")[0])
	}
	return 4 + 4*n*floats, nil
}

// votes returns the number of floats that a boosted learner has in the section.
func (h *Header) votes() int {
	alg := h.Values("alg")
	switch {
	case !h.Has("boosting") || len(alg) == 0:
		return 0
	case alg[0] == "logistic":
		return 1
	case alg[0] == "adaptive":
		return 2
	}
	return 0
}

// appendSectionText appends the section as vw prints it in readable models.
func (r *Regressor) appendSectionText(dst []byte, float appender) []byte {
	if len(r.Section) < 4 {
		return dst
	}
	le := binary.LittleEndian
	n := int(le.Uint32(r.Section))
	dst = fmt.Appendf(dst, "boosts %d\n", n)
	for i, p := 0, r.Section[4:]; len(p) >= 4; i, p = i+1, p[4:] {
		name := "alpha "
		if i >= n {
			name = "v "
		}
		dst = append(float(append(dst, name...), float64(math.Float32frombits(le.Uint32(p))), 32), '\n')
	}
	return dst
}
