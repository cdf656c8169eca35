// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gvw-project/gvw/feature"
)

// Limits bound the memory that a reader allocates for a file.
type Limits struct {
	// Bits is the greatest number of bits accepted: Read and ReadTopics allocate up to
	// 12·2^Bits bytes. 0: 28.
	Bits uint
}

const (
	defaultMaxBits = 28
	maxVersionText = 64
	maxText        = 1 << 16 // bytes of id and of options, NUL included
	maxList        = 1 << 12 // entries of a list
)

// Decoder reads a file in two steps: NewDecoder reads the header and the resume block, Weights
// the rest.
type Decoder struct {
	Header Header
	Resume *Resume // nil: a file for prediction only
	// Floats is the number of floats per weight in the file, or of topics. It follows from the kept options;
	// a caller that has better information sets it before Weights.
	Floats int
	// Section is what a learner keeps between options and resume flag; nil: nothing.
	Section []byte
	// Regularizer reports that the file is not a model; ReadRegularizer reads it.
	Regularizer bool

	r      *bufio.Reader
	offset int64
	sum    uint32 // checksum of the header so far
	ver    version
	done   bool
}

// NewDecoder reads the header and the resume block, and checks both.
func NewDecoder(r io.Reader, lim Limits) (*Decoder, error) {
	if lim.Bits == 0 {
		lim.Bits = defaultMaxBits
	}
	d := &Decoder{r: bufio.NewReaderSize(r, 1<<16)}
	for _, step := range []func(Limits) error{d.version, d.labels, d.shape, d.lists, d.options, d.section, d.resume} {
		if err := step(lim); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Read reads a whole file into a new array with as many floats per weight as the file has.
func Read(r io.Reader, lim Limits) (*Regressor, error) {
	d, err := NewDecoder(r, lim)
	if err != nil {
		return nil, err
	}
	v := View{Data: make([]float32, d.Floats<<d.Header.Bits), Stride: d.Floats}
	for i := range d.Floats {
		v.Slots = append(v.Slots, i)
	}
	if _, err := d.Weights(v); err != nil {
		return nil, err
	}
	return &Regressor{Header: d.Header, Section: d.Section, Resume: d.Resume, Weights: v}, nil
}

// fail returns the error of a field that begins at an offset.
func fail(at int64, field string, kind error, format string, args ...any) error {
	return &FormatError{Offset: at, Field: field, Kind: kind, Detail: fmt.Sprintf(format, args...)}
}

// fill reads len(p) bytes and adds them to the checksum.
func (d *Decoder) fill(p []byte, field string) error {
	n, err := io.ReadFull(d.r, p)
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return fail(d.offset, field, ErrTruncated, "got %d bytes, want %d: the file was not written or copied to its end", n, len(p))
	}
	if err != nil {
		return fail(d.offset, field, err, "")
	}
	d.offset += int64(n)
	if n > 0 {
		d.sum = feature.Murmur3(p, d.sum)
	}
	return nil
}

func (d *Decoder) u32(field string) (uint32, error) {
	var p [4]byte
	err := d.fill(p[:], field)
	return binary.LittleEndian.Uint32(p[:]), err
}

// text reads a length and a text with its NUL.
func (d *Decoder) text(field string, limit int) (string, error) {
	at := d.offset
	n, err := d.u32(field)
	if err != nil {
		return "", err
	}
	if n == 0 || n > uint32(limit) {
		return "", fail(at, field, ErrLimit, "%d bytes, want 1 to %d", n, limit)
	}
	p := make([]byte, n)
	if err := d.fill(p, field); err != nil {
		return "", err
	}
	if p[n-1] != 0 {
		return "", fail(at, field, ErrDamaged, "no NUL at its end")
	}
	return string(p[:n-1]), nil
}

func (d *Decoder) version(Limits) error {
	text, err := d.text("version", maxVersionText)
	if err != nil && !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrLimit) && !errors.Is(err, ErrDamaged) {
		return err // an error of the underlying reader
	}
	var ok bool
	if d.ver, ok = parseVersion(text); err != nil || !ok {
		return fail(0, "version", ErrNotModel, "it does not begin with the version of vw: is it a data file, a cache, or compressed?")
	}
	d.Header.Version = text
	old := !d.ver.less(version{7, 6, 0}) && d.ver.less(version{7, 10, 2})
	known := !d.ver.less(version{8, 0, 3}) && d.ver.less(version{10, 0, 0})
	if !old && !known {
		return fail(0, "version", ErrVersion, "written by vw %s; known are 7.6.0 to 7.10.1 and 8.0.3 to 9.x: train again or convert it with a vw between", text)
	}
	d.sum = 0 // the checksum excludes the version
	if known {
		d.Header.ID, err = d.text("id", maxText)
	}
	return err
}

func (d *Decoder) labels(Limits) error {
	var p [1]byte
	at := d.offset
	if err := d.fill(p[:], "model character"); err != nil {
		return err
	}
	if p[0] != 'm' {
		return fail(at, "model character", ErrNotModel, "got %q, want 'm' (a cache has 'c')", p[0])
	}
	lo, err := d.u32("min label")
	if err != nil {
		return err
	}
	hi, err := d.u32("max label")
	d.Header.MinLabel, d.Header.MaxLabel = math.Float32frombits(lo), math.Float32frombits(hi)
	return err
}

// shape reads the fields that determine the number of weights.
func (d *Decoder) shape(lim Limits) error {
	at := d.offset
	bits, err := d.u32("bits")
	if err != nil {
		return err
	}
	if bits < 1 || bits > maxBits {
		return fail(at, "bits", ErrDamaged, "%d, want 1 to %d", bits, maxBits)
	}
	if uint(bits) > lim.Bits {
		return fail(at, "bits", ErrLimit, "the model has 2^%d weights, at most 2^%d are allowed", bits, lim.Bits)
	}
	d.Header.Bits = uint(bits)
	if d.ver.less(version{7, 10, 2}) {
		for _, old := range []struct {
			name, field string
			size        int
		}{{"quadratic", "pairs", 2}, {"cubic", "triples", 3}} {
			values, err := d.list(old.field, old.size)
			if err != nil {
				return err
			}
			for _, v := range values {
				d.Header.Options = append(d.Header.Options, Option{old.name, v})
			}
		}
	}
	at = d.offset
	if d.Header.LDA, err = d.u32("lda"); err != nil {
		return err
	}
	// The numbers of all words take no more memory than weights with their sums.
	if k := uint64(d.Header.LDA); k > maxTopics || k<<bits > 3<<lim.Bits {
		return fail(at, "lda", ErrLimit, "%d topics of 2^%d words, at most %d topics and %d numbers in all are allowed", k, bits, maxTopics, uint64(3)<<lim.Bits)
	}
	return nil
}

func (d *Decoder) lists(Limits) (err error) {
	if d.Header.NGrams, err = d.list("n-grams", 3); err != nil {
		return err
	}
	d.Header.Skips, err = d.list("skips", 3)
	return err
}

// list reads a count and that many texts of the given size, padded with NUL.
func (d *Decoder) list(field string, size int) ([]string, error) {
	at := d.offset
	n, err := d.u32(field)
	if err != nil {
		return nil, err
	}
	if n > maxList {
		return nil, fail(at, field, ErrLimit, "%d entries, at most %d", n, maxList)
	}
	var list []string
	for range n {
		var p [3]byte
		if err := d.fill(p[:size], field); err != nil {
			return nil, err
		}
		end := size
		for end > 0 && p[end-1] == 0 {
			end--
		}
		list = append(list, string(p[:end]))
	}
	return list, nil
}

func (d *Decoder) options(Limits) error {
	at := d.offset
	text, err := d.text("options", maxText)
	if err != nil {
		return err
	}
	options, err := ParseOptions(text)
	if err != nil {
		return fail(at, "options", ErrDamaged, "%v", err)
	}
	d.Header.Options = append(d.Header.Options, options...)
	if d.ver.less(version{8, 0, 3}) {
		return nil
	}
	want, at := d.sum, d.offset
	n, err := d.u32("checksum")
	if err != nil {
		return err
	}
	if n != 4 {
		return fail(at, "checksum", ErrDamaged, "its length is %d, want 4", n)
	}
	got, err := d.u32("checksum")
	if err == nil && got != want {
		return fail(at, "checksum", ErrDamaged, "the file says %08x, its header gives %08x: copy or train the model again", got, want)
	}
	return err
}

// resume reads the flag and the block that follows it.
func (d *Decoder) resume(lim Limits) error {
	if d.Header.LDA > 0 { // a topic model has neither
		d.Floats = int(d.Header.LDA)
		return nil
	}
	if k := d.Header.RowFloats(); k > 0 { // likewise
		if uint64(k)<<d.Header.Bits > 3<<lim.Bits {
			return fail(d.offset, "options", ErrLimit, "2^%d rows of %d floats, at most %d floats in all are allowed", d.Header.Bits, k, uint64(3)<<lim.Bits)
		}
		d.Floats = k
		return nil
	}
	var p [8]byte
	at := d.offset
	if err := d.fill(p[:1], "resume flag"); err != nil {
		return err
	}
	d.Floats = 1
	switch {
	case p[0] == 0:
		return nil
	case p[0] != 1:
		return fail(at, "resume flag", ErrDamaged, "%d, want 0 or 1", p[0])
	case d.Header.Kind() == BFGS: // which has no resume state
		d.Regularizer = true
		return nil
	}
	d.Floats = d.Header.floats()
	d.Resume = &Resume{Contraction: 1}
	if d.Header.Has("per_model_save_load") {
		n, err := d.Header.readModels(at)
		if err != nil {
			return err
		}
		d.Resume.setModels(n)
	}
	for _, f := range d.Resume.fields() {
		if d.ver.less(f.since) {
			continue
		}
		var size int
		if _, ok := f.value.(*float32); ok {
			size = 4
		} else {
			size = 8
		}
		if err := d.fill(p[:size], f.name); err != nil {
			return err
		}
		switch v := f.value.(type) {
		case *float32:
			*v = math.Float32frombits(binary.LittleEndian.Uint32(p[:]))
		case *float64:
			*v = math.Float64frombits(binary.LittleEndian.Uint64(p[:]))
		case *uint64:
			*v = binary.LittleEndian.Uint64(p[:])
		}
	}
	return nil
}
