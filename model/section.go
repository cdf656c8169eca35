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
//	--stage_poly: two bytes of each weight
//	--marginal: u64 number of ids; of each u64 id, f64 sum and f64 weight of its labels; with --compete
//	a second time u64 number of ids; of each u64 id and six f32
//	--boosting with --alg logistic or adaptive: u32 number N of learners, f32 vote of each; adaptive
//	also N f32
//	--log_multi: see tree.go
//
// Sections of --marginal and --log_multi have their size in themselves.
func (d *Decoder) section(Limits) error {
	at := d.offset
	if r := d.Header.growing(); r != nil {
		return r.read(d)
	}
	n, err := d.Header.sectionSize()
	if err == nil && n > maxSection {
		err = fmt.Errorf("%d bytes, at most %d are allowed", n, maxSection)
	}
	if err != nil {
		return fail(at, sectionField, ErrDamaged, "%v", err)
	}
	if n == 0 {
		return nil
	}
	d.Section = make([]byte, n)
	return d.fill(d.Section, sectionField)
}

// sectionField is the section in messages.
const sectionField = "section of the learner"

// growing is a section whose size does not follow from the kept options.
type growing struct {
	option string
	// read reads the section, up to its end.
	read func(*Decoder) error
	// appendText appends the section as vw prints it in readable models.
	appendText func(dst []byte, r *Regressor, float appender) []byte
}

// growingSections are the sections of learners that grow with the examples.
var growingSections = []growing{
	{"marginal", (*Decoder).means, appendMeansText},
	{"log_multi", (*Decoder).tree, appendTreeText},
}

// growing returns the growing section of a model; nil: it has none.
func (h *Header) growing() *growing {
	for i := range growingSections {
		if h.Has(growingSections[i].option) {
			return &growingSections[i]
		}
	}
	return nil
}

// more appends bytes of the file to the section, and returns them. It reads them in pieces, so that a
// damaged number does not allocate more than the file has.
func (d *Decoder) more(n int) ([]byte, error) {
	from := len(d.Section)
	if n > maxSection-from {
		return nil, fail(d.offset, sectionField, ErrDamaged, "%d bytes follow %d, at most %d are allowed", n, from, maxSection)
	}
	for n > 0 {
		lo, piece := len(d.Section), min(n, 1<<20)
		d.Section = append(d.Section, make([]byte, piece)...)
		if err := d.fill(d.Section[lo:], sectionField); err != nil {
			return nil, err
		}
		n -= piece
	}
	return d.Section[from:], nil
}

// binaryOnly returns the kept option of a learner whose models do not return from text, "" for others: vw's text leaves out the section
// of --stage_poly, and those of the others have forms of their own.
func (h *Header) binaryOnly() string {
	switch g := h.growing(); {
	case g != nil:
		return g.option
	case h.Has("stage_poly"):
		return "stage_poly"
	case h.votes() > 0:
		return "boosting"
	case h.RowFloats() > 0:
		return "rank"
	}
	return ""
}

// sectionSize returns the number of bytes of the section.
func (h *Header) sectionSize() (int, error) {
	if h.Has("stage_poly") {
		return 2 << h.Bits, nil
	}
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
	if g := r.growing(); g != nil {
		return g.appendText(dst, r, float)
	}
	if r.votes() == 0 { // vw prints nothing of other sections
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
