// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gvw-project/gvw/feature"
)

// Regressor is a model: a header, weights, and optionally the state for further
// training.
type Regressor struct {
	Header
	Section []byte  // what a learner keeps beside weights; its form follows from the kept options
	Resume  *Resume // nil: for prediction only, without the state beside the weights
	Weights View
	Bare    bool // text lists the weights without the state beside them, as vw's does after a test
}

// check reports all values that cannot be written.
func (r *Regressor) check() error {
	errs := []error{r.CheckHeader()}
	v := r.Weights.fill()
	switch {
	case r.RowFloats() > 0:
		errs = append(errs, r.checkRows(v))
	default:
		errs = append(errs, v.check(r.Bits))
	}
	if n, err := r.sectionSize(); r.growing() == nil && (err != nil || n != len(r.Section)) {
		errs = append(errs, fmt.Errorf("model: a section of %d bytes, but the kept options ask for %d", len(r.Section), n))
	}
	if r.LDA != 0 {
		errs = append(errs, fmt.Errorf("model: %d topics: a topic model is written by WriteTopics", r.LDA))
	}
	if r.Resume != nil {
		n := 0
		if r.Has("per_model_save_load") {
			var err error
			if n, err = r.models(); err != nil {
				errs = append(errs, fmt.Errorf("model: %w", err))
			}
		}
		if len(r.Resume.Models) != n {
			errs = append(errs, fmt.Errorf("model: the sums of %d models, but the kept options ask for %d", len(r.Resume.Models), n))
		}
		if r.Kind() == BFGS {
			errs = append(errs, errors.New("model: vw refuses a model of --bfgs with resume state: drop the state or the option"))
		}
		if want := r.floats(); len(v.Slots) != want {
			errs = append(errs, fmt.Errorf("model: %d floats per weight, but the kept options ask for %d", len(v.Slots), want))
		}
	}
	return errors.Join(errs...)
}

// Write writes the binary form. Its bytes depend only on r. A model with Header.LDA topics has as
// many floats per weight, and is written as WriteTopics writes it.
func Write(w io.Writer, r *Regressor) error {
	if r.LDA > 0 {
		return WriteTopics(w, r.topics())
	}
	if err := r.check(); err != nil {
		return err
	}
	head := append(appendHeader(nil, &r.Header), r.Section...)
	if k := r.RowFloats(); k > 0 {
		return writeRows(w, head, r.Weights.Data, r.Weights.Stride, k, appendRow)
	}
	if r.Resume == nil {
		head = append(head, 0)
	} else {
		head = append(head, 1)
		for _, f := range r.Resume.fields() {
			head = appendNumber(head, f.value)
		}
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	if _, err := bw.Write(head); err != nil {
		return fmt.Errorf("model: cannot write the header: %w", err)
	}
	if err := writeWeights(bw, r); err != nil {
		return fmt.Errorf("model: cannot write the weights: %w", err)
	}
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("model: cannot write the weights: %w", err)
	}
	return nil
}

func writeWeights(bw *bufio.Writer, r *Regressor) error {
	v := r.saved()
	rec := make([]byte, 0, 8+4*maxFloats)
	return v.each(r.Bits, func(index uint64, weight []float32) error {
		rec = appendIndex(rec[:0], index, r.Bits)
		for _, s := range v.Slots {
			rec = binary.LittleEndian.AppendUint32(rec, math.Float32bits(weight[s]))
		}
		_, err := bw.Write(rec)
		return err
	})
}

// saved returns the view of the floats in the file: without resume state only the weights.
func (r *Regressor) saved() View {
	v := r.Weights.fill()
	if r.Resume == nil {
		v.Slots = v.Slots[:1]
	}
	return v
}

// any reports whether one of the weight's kept floats is not 0; only such a weight is written.
func (v *View) any(weight []float32) bool {
	for _, s := range v.Slots {
		if weight[s] != 0 {
			return true
		}
	}
	return false
}

// wide reports whether indices take 8 bytes.
func wide(bits uint) bool { return bits >= 31 }

func appendIndex(dst []byte, i uint64, bits uint) []byte {
	if wide(bits) {
		return binary.LittleEndian.AppendUint64(dst, i)
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(i))
}

func appendNumber(dst []byte, p any) []byte {
	le := binary.LittleEndian
	switch p := p.(type) {
	case *float32:
		return le.AppendUint32(dst, math.Float32bits(*p))
	case *float64:
		return le.AppendUint64(dst, math.Float64bits(*p))
	case *uint64:
		return le.AppendUint64(dst, *p)
	}
	panic(fmt.Sprintf("BUG: model: a number of type %T", p))
}

// appendHeader appends the header and its checksum. As in vw, the checksum covers each field
// separately.
func appendHeader(dst []byte, h *Header) []byte {
	le := binary.LittleEndian
	dst = appendText(dst, Version)
	var sum uint32
	piece := func(p ...byte) {
		dst = append(dst, p...)
		if len(p) > 0 {
			sum = feature.Murmur3(p, sum)
		}
	}
	word := func(v uint32) { piece(le.AppendUint32(nil, v)...) }
	text := func(s string) {
		word(uint32(len(s) + 1))
		piece(append([]byte(s), 0)...)
	}
	text(h.ID)
	piece('m')
	word(math.Float32bits(h.MinLabel))
	word(math.Float32bits(h.MaxLabel))
	word(uint32(h.Bits))
	word(h.LDA)
	for _, list := range [][]string{h.NGrams, h.Skips} {
		word(uint32(len(list)))
		for _, s := range list {
			var entry [3]byte
			copy(entry[:], s)
			piece(entry[:]...)
		}
	}
	text(string(AppendOptions(nil, h.Options)))
	dst = le.AppendUint32(dst, 4)
	return le.AppendUint32(dst, sum)
}

func appendText(dst []byte, s string) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)+1))
	return append(append(dst, s...), 0)
}

// Digest is the SHA-256 of a file's bytes: two ranks whose models have equal
// digests wrote the same file.
type Digest [sha256.Size]byte

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// WriteDigest is Write, and returns the digest of the written bytes. Write to
// io.Discard if only the digest is needed.
func WriteDigest(w io.Writer, r *Regressor) (Digest, error) {
	h := sha256.New()
	if err := Write(io.MultiWriter(w, h), r); err != nil {
		return Digest{}, err
	}
	return Digest(h.Sum(nil)), nil
}
