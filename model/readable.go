// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/gvw-project/gvw/feature"
)

// WriteReadable writes the text of --readable_model, with vw's six digits. It writes the same
// weights as Write.
func WriteReadable(w io.Writer, r *Regressor) error {
	if r.LDA > 0 {
		return WriteTopicsReadable(w, r.topics())
	}
	return writeText(w, r, nameless, appendRounded, appendRounded)
}

// WriteExact is WriteReadable with all digits: ReadText returns the same model. A model that ReadText does not read is an error.
func WriteExact(w io.Writer, r *Regressor) error {
	if option := r.binaryOnly(); option != "" {
		return fmt.Errorf("model: a model with the kept option %s cannot be read from its text: keep it as it is", option)
	}
	return writeText(w, r, nameless, appendExact, appendExact)
}

func nameless(uint32) (string, bool) { return "", false }

// WriteInverted writes the text of --invert_hash: the readable model with the names of the
// weights, as far as name returns them.
func WriteInverted(w io.Writer, r *Regressor, name func(index uint32) (string, bool)) error {
	return writeText(w, r, name, appendRounded, appendRounded)
}

// WriteHex is WriteInverted with the weights in hexadecimal, as with --hexfloat_weights. name
// is nil for a text without names.
func WriteHex(w io.Writer, r *Regressor, name func(index uint32) (string, bool)) error {
	if name == nil {
		name = nameless
	}
	return writeText(w, r, name, appendRounded, appendHex)
}

// appender appends a number of the given size in bits.
type appender func(dst []byte, v float64, bits int) []byte

func writeText(w io.Writer, r *Regressor, name func(index uint32) (string, bool), float, weights appender) error {
	if err := r.check(); err != nil {
		return err
	}
	if k := r.RowFloats(); k > 0 {
		return writeRows(w, appendReadableHeader(nil, &r.Header, float), r.Weights.Data, r.Weights.Stride, k, textRow(weights))
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	if _, err := bw.Write(r.readableHead(float)); err != nil {
		return fmt.Errorf("model: cannot write the readable model: %w", err)
	}
	v := r.saved()
	if r.Bare {
		v.Slots = v.Slots[:1]
	}
	var line []byte
	err := v.each(r.Bits, func(index uint64, weight []float32) error {
		line = line[:0]
		if n, known := name(uint32(index)); known {
			line = append(append(line, n...), ':')
		}
		line = strconv.AppendUint(line, index, 10)
		for k, s := range v.Slots {
			line = append(line, ": "[min(k, 1)])
			line = weights(line, float64(weight[s]), 32)
		}
		_, err := bw.Write(append(line, '\n'))
		return err
	})
	if err == nil {
		err = bw.Flush()
	}
	if err != nil {
		return fmt.Errorf("model: cannot write the readable model: %w", err)
	}
	return nil
}

// readableHead returns the text before the weights.
func (r *Regressor) readableHead(float appender) []byte {
	b := r.appendSectionText(appendReadableHeader(nil, &r.Header, float), float)
	if r.Resume == nil {
		return append(b, ":0\n"...)
	}
	b = append(b, ":1\n"...)
	for _, f := range r.Resume.fields() {
		b = append(append(b, f.name...), ' ')
		switch v := f.value.(type) {
		case *float32:
			b = float(b, float64(*v), 32)
		case *float64:
			b = float(b, *v, 64)
		case *uint64:
			b = strconv.AppendUint(b, *v, 10)
		}
		b = append(b, '\n')
	}
	return b
}

// appendReadableHeader appends the header up to its checksum, which is that of the text: vw
// chains it over the fields that it prints one by one, beginning with the id.
func appendReadableHeader(b []byte, h *Header, float appender) []byte {
	b = fmt.Appendf(b, "Version %s\n", Version)
	var sum uint32
	printed := len(b)
	piece := func() {
		sum = feature.Murmur3(b[printed:], sum)
		printed = len(b)
	}
	b = fmt.Appendf(b, "Id %s\n", h.ID)
	piece()
	b = append(float(append(b, "Min label:"...), float64(h.MinLabel), 32), '\n')
	piece()
	b = append(float(append(b, "Max label:"...), float64(h.MaxLabel), 32), '\n')
	piece()
	b = fmt.Appendf(b, "bits:%d\n", h.Bits)
	piece()
	b = fmt.Appendf(b, "lda:%d\n", h.LDA)
	piece()
	for _, list := range []struct {
		name   string
		values []string
	}{{"ngram", h.NGrams}, {"skip", h.Skips}} {
		b = fmt.Appendf(b, "%d %s:", len(list.values), list.name)
		piece()
		for _, v := range list.values {
			b = append(append(b, v...), ' ')
			piece()
		}
		b = append(b, '\n')
		piece()
	}
	b = append(AppendOptions(append(b, "options:"...), h.Options), '\n')
	piece()
	return fmt.Appendf(b, "Checksum: %d\n", sum)
}

// AppendFloat appends v with six significant digits, as C++ streams do.
func AppendFloat(dst []byte, v float64) []byte { return appendDigits(dst, v, 6, 64) }

func appendRounded(dst []byte, v float64, _ int) []byte { return AppendFloat(dst, v) }

// appendHex appends v as C's %a does: exponents have no leading zero.
func appendHex(dst []byte, v float64, _ int) []byte {
	start := len(dst)
	dst = appendWithFormat(dst, v, 'x', -1, 64)
	if n := len(dst); n-start > 3 && dst[n-2] == '0' && (dst[n-3] == '+' || dst[n-3] == '-') {
		dst = append(dst[:n-2], dst[n-1])
	}
	return dst
}

// appendExact appends v with the fewest digits that identify it.
func appendExact(dst []byte, v float64, bits int) []byte { return appendDigits(dst, v, -1, bits) }

func appendDigits(dst []byte, v float64, digits, bits int) []byte {
	return appendWithFormat(dst, v, 'g', digits, bits)
}

func appendWithFormat(dst []byte, v float64, format byte, digits, bits int) []byte {
	switch {
	case math.IsInf(v, 1):
		return append(dst, "inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-inf"...)
	case math.IsNaN(v) && math.Signbit(v): // inf·0 on a PC
		return append(dst, "-nan"...)
	case math.IsNaN(v):
		return append(dst, "nan"...)
	}
	return strconv.AppendFloat(dst, v, format, digits, bits)
}
