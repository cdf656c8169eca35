// SPDX-License-Identifier: Apache-2.0

package csr

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gvw-project/gvw/feature"
)

// Name names the format.
const Name = "csr"

// Magic begins each frame.
const Magic = "gvwR"

// Flags of a frame.
const (
	Labels  = 1 << iota // the rows have labels
	Weights             // the rows have importance weights
	Dense               // all columns of each row, without indices
)

const headerBytes = 16

// header is the beginning of a frame.
type header struct {
	flags uint32
	rows  int
	count int // values; of a dense frame columns
}

func parseHeader(b []byte) (header, error) {
	if string(b[:4]) != Magic {
		return header{}, fmt.Errorf("a frame begins with %q, want %q: the data is not in binary frames, or the frame before it has a wrong length", b[:4], Magic)
	}
	le := binary.LittleEndian
	h := header{le.Uint32(b[4:]), int(le.Uint32(b[8:])), int(le.Uint32(b[12:]))}
	if h.flags&^(Labels|Weights|Dense) != 0 {
		return header{}, fmt.Errorf("a frame has flags %#x, want only those of %#x", h.flags, Labels|Weights|Dense)
	}
	return h, nil
}

// length returns the bytes of the frame. Its value is at most 2^66 and therefore a float64:
// an int would overflow.
func (h header) length() float64 {
	columns := 0
	if h.flags&Labels != 0 {
		columns++
	}
	if h.flags&Weights != 0 {
		columns++
	}
	if h.flags&Dense != 0 {
		return headerBytes + 4*float64(h.rows)*(float64(columns)+float64(h.count))
	}
	return headerBytes + 4*float64(h.rows)*float64(columns+1) + 8*float64(h.count)
}

// Length returns the number of bytes of the frame that text begins with; 0 if text ends before
// the number is known. The frame itself may be longer than text. A frame of more than limit
// bytes is an error.
func Length(text []byte, limit int) (int, error) {
	if len(text) < headerBytes {
		return 0, nil
	}
	h, err := parseHeader(text)
	if err != nil {
		return 0, err
	}
	n := h.length()
	if n > float64(limit) {
		return 0, fmt.Errorf("a frame of %.0f bytes: want at most %d: write smaller frames, or raise the limit (stream.Config.MaxLine)", n, limit)
	}
	return int(n), nil
}

// Parser turns frames into examples. Not for use by more than one goroutine at a time.
type Parser struct {
	b       *feature.Builder
	hashAll bool
	named   bool
	ns      feature.Namespace
	name    []byte // of the current feature
	row     []feature.Feature
}

// NewParser makes a parser.
func NewParser(cfg feature.Config) (*Parser, error) {
	b, err := feature.NewBuilder(cfg)
	if err != nil {
		return nil, err
	}
	return &Parser{b: b, hashAll: cfg.HashAll, named: cfg.HashAll || cfg.Names, ns: b.Default()}, nil
}

// AppendLine adds the examples of frame number n to dst. On error dst is unchanged.
func (p *Parser) AppendLine(dst *feature.Batch, frame []byte, n int64) error {
	before := *dst
	row, err := p.frame(dst, frame, n)
	if err == nil {
		return nil
	}
	dst.Examples = dst.Examples[:len(before.Examples)]
	dst.Spans = dst.Spans[:len(before.Spans)]
	dst.Features = dst.Features[:len(before.Features)]
	dst.Warnings = dst.Warnings[:len(before.Warnings)]
	dst.Names = dst.Names[:len(before.Names)]
	dst.NameText = dst.NameText[:len(before.NameText)]
	if row < 0 {
		return fmt.Errorf("frame %d: %w", n, err)
	}
	return fmt.Errorf("frame %d, row %d: %w", n, row+1, err)
}

// floats is a column of the frame: float32, little-endian.
type floats []byte

func (f floats) at(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(f[4*i:]))
}

// frame reads a frame. row is that of the error, -1 for the whole frame.
func (p *Parser) frame(dst *feature.Batch, frame []byte, n int64) (row int, err error) {
	if len(frame) < headerBytes {
		return -1, fmt.Errorf("%d bytes are left: want a frame, which has at least %d", len(frame), headerBytes)
	}
	h, err := parseHeader(frame)
	if err != nil {
		return -1, err
	}
	if want := h.length(); float64(len(frame)) != want {
		return -1, fmt.Errorf("%d bytes: want %.0f by its counts: the data was cut off, or the counts are wrong", len(frame), want)
	}
	rest := frame[headerBytes:]
	column := func(count int) []byte {
		c := rest[: 4*count : 4*count]
		rest = rest[4*count:]
		return c
	}
	var labels, weights floats
	if h.flags&Labels != 0 {
		labels = column(h.rows)
	}
	if h.flags&Weights != 0 {
		weights = column(h.rows)
	}
	var counts, indices []byte
	total := h.count
	if h.flags&Dense != 0 {
		total *= h.rows
	} else {
		counts = column(h.rows)
		indices = column(h.count)
	}
	values := floats(column(total))
	le := binary.LittleEndian
	for i := range h.rows {
		count := h.count
		if counts != nil {
			if count = int(le.Uint32(counts[4*i:])); count > len(values)/4 {
				return i, fmt.Errorf("%d values: want at most %d, which the frame has left", count, len(values)/4)
			}
		}
		p.b.Begin(dst, n)
		if err := p.head(labels, weights, i); err != nil {
			p.b.Cancel()
			return i, err
		}
		if bad := p.features(dst, indices, values[:4*count]); bad >= 0 {
			p.b.Cancel()
			return i, fmt.Errorf("value %d is not a number", bad+1)
		}
		if err := p.b.End(); err != nil {
			return i, err
		}
		values = values[4*count:]
		if counts != nil {
			indices = indices[4*count:]
		}
	}
	if len(values) > 0 {
		return -1, fmt.Errorf("%d values more than the rows have by their counts", len(values)/4)
	}
	return 0, nil
}

// head sets the label and the weight of row i.
func (p *Parser) head(labels, weights floats, i int) error {
	if labels != nil {
		v := labels.at(i)
		if v != v {
			return fmt.Errorf("the label is not a number")
		}
		p.b.SetLabel(v)
	}
	if weights != nil {
		v := weights.at(i)
		if v != v {
			return fmt.Errorf("the importance weight is not a number")
		}
		p.b.SetWeight(v)
	}
	return nil
}

// features adds the features of a row; without indices they are the row's columns. It returns
// the position of a value that is not a number, or -1.
func (p *Parser) features(dst *feature.Batch, indices []byte, values floats) (bad int) {
	p.b.Enter(p.ns)
	before := len(dst.Features)
	if bad := p.decode(indices, values); bad >= 0 {
		return bad
	}
	if p.named {
		for _, f := range p.row {
			p.name = strconv.AppendUint(p.name[:0], uint64(f.Index), 10)
			hash := p.ns.Salt + f.Index
			if p.hashAll {
				hash = p.b.Hash(p.name, p.ns.Salt)
			}
			p.b.AddNamed(p.name, nil, hash, f.Value)
		}
	} else {
		for i := range p.row {
			p.row[i].Index += p.ns.Salt
		}
		p.b.AddUnnamed(p.row)
	}
	if len(dst.Features) > before {
		p.b.List(p.ns.Byte)
	}
	return -1
}

// decode sets p.row to the pairs of a row. It returns the position of a value that is not a
// number, or -1.
func (p *Parser) decode(indices []byte, values floats) (bad int) {
	n := len(values) / 4
	p.row = slices.Grow(p.row[:0], n)[:n]
	for k := range p.row {
		v := values.at(k)
		if v != v {
			return k
		}
		index := uint32(k)
		if indices != nil {
			index = binary.LittleEndian.Uint32(indices[4*k:])
		}
		p.row[k] = feature.Feature{Index: index, Value: v}
	}
	return -1
}
