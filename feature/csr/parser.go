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
	Narrow              // indices are u8
	Short               // indices are u16

	all = Labels | Weights | Dense | Narrow | Short
)

const headerBytes = 16

// maxBare is the greatest number of examples of a batch after a frame whose rows have no bytes. No limit of bytes bounds such
// rows, and a batch has all frames of a chunk. A chunk of 256 KiB (package stream) has as many sparse rows without values.
const maxBare = 1 << 16

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
	if h.flags&^all != 0 {
		return header{}, fmt.Errorf("a frame has flags %#x, want only those of %#x", h.flags, all)
	}
	if form := h.flags & (Dense | Narrow | Short); form&(form-1) != 0 {
		return header{}, fmt.Errorf("a frame has flags %#x, want at most one of %#x", h.flags, Dense|Narrow|Short)
	}
	return h, h.bare(0)
}

// bare returns an error for a frame that would add more rows without bytes than allowed to a batch of n examples.
func (h header) bare(n int) error {
	if h.flags != Dense || h.count != 0 || h.rows <= max(maxBare-n, 0) {
		return nil
	}
	if n == 0 || h.rows > maxBare {
		return fmt.Errorf("a dense frame of %d rows without columns, labels and weights: want at most %d rows: write a sparse frame", h.rows, maxBare)
	}
	return fmt.Errorf("a dense frame of %d rows without columns, labels and weights after %d examples of the same batch: want at most %d together: write a sparse frame", h.rows, n, maxBare)
}

// indexBytes returns the bytes of an index.
func (h header) indexBytes() int {
	switch {
	case h.flags&Dense != 0:
		return 0
	case h.flags&Narrow != 0:
		return 1
	case h.flags&Short != 0:
		return 2
	}
	return 4
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
	return headerBytes + 4*float64(h.rows)*float64(columns+1) + float64(4+h.indexBytes())*float64(h.count)
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
	if err := h.bare(len(dst.Examples)); err != nil {
		return -1, err
	}
	if want := h.length(); float64(len(frame)) != want {
		return -1, fmt.Errorf("%d bytes: want %.0f by its counts: the data was cut off, or the counts are wrong", len(frame), want)
	}
	rest := frame[headerBytes:]
	column := func(count, size int) []byte {
		c := rest[: size*count : size*count]
		rest = rest[size*count:]
		return c
	}
	var labels, weights floats
	if h.flags&Labels != 0 {
		labels = column(h.rows, 4)
	}
	if h.flags&Weights != 0 {
		weights = column(h.rows, 4)
	}
	var counts []byte
	indices := indexes{size: h.indexBytes()}
	total := h.count
	if h.flags&Dense != 0 {
		total *= h.rows
	} else {
		counts = column(h.rows, 4)
		indices.b = column(h.count, indices.size)
	}
	values := floats(column(total, 4))
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
		indices = indices.from(count)
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
func (p *Parser) features(dst *feature.Batch, indices indexes, values floats) (bad int) {
	p.b.Enter(p.ns)
	before := len(dst.Features)
	n := len(values) / 4
	if room, mask, ok := p.b.Room(n); ok && !p.named {
		k, bad := indices.fill(room, values, p.ns.Salt, mask)
		if bad >= 0 {
			return bad
		}
		p.b.Fill(k)
	} else {
		p.row = slices.Grow(p.row[:0], n)[:n]
		k, bad := indices.fill(p.row, values, 0, math.MaxUint32)
		if bad >= 0 {
			return bad
		}
		p.add(p.row[:k])
	}
	if len(dst.Features) > before {
		p.b.List(p.ns.Byte)
	}
	return -1
}

// add adds features one by one.
func (p *Parser) add(row []feature.Feature) {
	if !p.named {
		for i := range row {
			row[i].Index += p.ns.Salt
		}
		p.b.AddUnnamed(row)
		return
	}
	for _, f := range row {
		p.name = strconv.AppendUint(p.name[:0], uint64(f.Index), 10)
		hash := p.ns.Salt + f.Index
		if p.hashAll {
			hash = p.b.Hash(p.name, p.ns.Salt)
		}
		p.b.AddNamed(p.name, nil, hash, f.Value)
	}
}

// indexes is a column of indices, each of size bytes; of size 0: those of the row's columns.
type indexes struct {
	b    []byte
	size int
}

// from returns the column without its first n elements.
func (x indexes) from(n int) indexes { return indexes{x.b[n*x.size:], x.size} }

// fill writes the pairs of a row whose value is not 0 to room, and returns their number. bad is the position of a value
// that is not a number, or -1.
func (x indexes) fill(room []feature.Feature, values floats, salt, mask uint32) (k, bad int) {
	const exponent = 0xff << 24 // of a number that was shifted to the left, past its sign
	le := binary.LittleEndian
	for i := range room {
		bits, index := le.Uint32(values[4*i:]), uint32(i)
		switch x.size {
		case 1:
			index = uint32(x.b[i])
		case 2:
			index = uint32(le.Uint16(x.b[2*i:]))
		case 4:
			index = le.Uint32(x.b[4*i:])
		}
		room[k] = feature.Feature{Index: (index + salt) & mask, Value: math.Float32frombits(bits)}
		if bits <<= 1; bits > exponent {
			return k, i
		} else if bits != 0 {
			k++
		}
	}
	return k, -1
}
