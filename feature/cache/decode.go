// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/feature"
)

var errPayload = errors.New("the payload is inconsistent")

// A Decoder turns blocks into batches. Not for use by more than one goroutine at
// a time; blocks may be decoded in any order.
type Decoder struct {
	width int
	mask  uint32
	last  [256]feature.Span
}

// NewDecoder makes a decoder of features of so many bits.
func NewDecoder(bits uint) *Decoder {
	return &Decoder{width: width(bits), mask: uint32(1<<bits - 1)}
}

// Decode appends the examples of block to dst. The error is a *CorruptError;
// dst is then as it was before.
func (d *Decoder) Decode(dst *feature.Batch, block Block) error {
	if err := d.decode(dst, block.Data); err != nil {
		return &CorruptError{File: block.File, Block: block.Number, Offset: block.Offset, What: err.Error()}
	}
	return nil
}

func (d *Decoder) decode(dst *feature.Batch, block []byte) error {
	if len(block) < blockHeader || string(block[:4]) != blockMagic {
		return errors.New("not the beginning of a block")
	}
	payload := block[blockHeader:]
	if n := le.Uint32(block[4:]); int(n) != len(payload) {
		return fmt.Errorf("payload of %d bytes: its header has %d", len(payload), n)
	}
	if got, want := blockSum(block, payload), le.Uint32(block[16:]); got != want {
		return fmt.Errorf("checksum %08x: its header has %08x", got, want)
	}
	return d.payload(dst, payload, int(le.Uint32(block[8:])), int(le.Uint32(block[12:])))
}

func (d *Decoder) payload(dst *feature.Batch, in []byte, examples, features int) error {
	if examples > len(in) || features > maxFeatures {
		return fmt.Errorf("%d examples and %d features in %d bytes", examples, features, len(in))
	}
	clear(d.last[:])
	ne, ns, nf, nt, nc := len(dst.Examples), len(dst.Spans), len(dst.Features), len(dst.Tags), len(dst.Costs)
	limit := nf + features
	ok := true
	for range examples {
		if in, ok = d.example(dst, in, limit); !ok {
			break
		}
	}
	if !ok || len(in) != 0 || len(dst.Features) != limit {
		dst.Examples, dst.Spans, dst.Features, dst.Tags, dst.Costs = dst.Examples[:ne], dst.Spans[:ns], dst.Features[:nf], dst.Tags[:nt], dst.Costs[:nc]
		return errPayload
	}
	return nil
}

// example appends one example to dst, which may then hold limit features, and
// returns what follows it.
func (d *Decoder) example(dst *feature.Batch, in []byte, limit int) ([]byte, bool) {
	if len(in) < 14 { // flags, three numbers, and then the count of namespaces
		return d.shortExample(dst, in, limit)
	}
	ex := feature.Example{
		Label:  feature.NoLabel,
		Weight: 1,
		TagLo:  uint32(len(dst.Tags)),
		SpanLo: uint32(len(dst.Spans)),
		FeatLo: uint32(len(dst.Features)),
		CostLo: uint32(len(dst.Costs)),
		CostHi: uint32(len(dst.Costs)),
	}
	has := in[0]
	in = in[1:]
	if has&hasLabel != 0 {
		ex.Label = math.Float32frombits(le.Uint32(in))
		in = in[4:]
	}
	if has&hasWeight != 0 {
		ex.Weight = math.Float32frombits(le.Uint32(in))
		in = in[4:]
	}
	if has&hasInitial != 0 {
		ex.Initial = math.Float32frombits(le.Uint32(in))
		in = in[4:]
	}
	if has&hasTag != 0 {
		n, k := binary.Uvarint(in)
		if k <= 0 || n > uint64(len(in)-k) {
			return nil, false
		}
		dst.Tags = append(dst.Tags, in[k:k+int(n)]...)
		in = in[k+int(n):]
	}
	if has&hasBefore != 0 {
		n, k := binary.Uvarint(in)
		if k <= 0 || n > math.MaxUint32 {
			return nil, false
		}
		ex.Before = uint32(n)
		in = in[k:]
	}
	if has&hasCosts != 0 {
		n, k := binary.Uvarint(in)
		if k <= 0 || n > uint64(len(in)-k)/8 {
			return nil, false
		}
		in = in[k:]
		for range n {
			dst.Costs = append(dst.Costs, feature.Cost{Class: le.Uint32(in), Cost: math.Float32frombits(le.Uint32(in[4:]))})
			in = in[8:]
		}
		ex.CostHi = uint32(len(dst.Costs))
	}
	ex.TagHi = uint32(len(dst.Tags))
	spans, k := binary.Uvarint(in)
	if k <= 0 || spans > maxSpans {
		return nil, false
	}
	in = in[k:]
	ok := true
	for range spans {
		if in, ok = d.span(dst, in, limit); !ok {
			return nil, false
		}
		ex.HiddenSquares += dst.Spans[len(dst.Spans)-1].Over
	}
	ex.SpanHi = uint32(len(dst.Spans))
	ex.FeatHi = uint32(len(dst.Features))
	dst.Examples = append(dst.Examples, ex)
	return in, true
}

// shortExample reads an example among the last bytes of a block, where it is
// padded so that example need not look for the end at each step.
func (d *Decoder) shortExample(dst *feature.Batch, in []byte, limit int) ([]byte, bool) {
	var padded [28]byte
	n := len(in)
	copy(padded[:], in)
	rest, ok := d.example(dst, padded[:n+14], limit)
	if !ok || len(rest) < 14 {
		return nil, false
	}
	return in[n-(len(rest)-14):], true
}

// span appends one namespace.
func (d *Decoder) span(dst *feature.Batch, in []byte, limit int) ([]byte, bool) {
	if len(in) < 3 {
		return nil, false
	}
	ns, how := in[0], in[1]
	count, k := binary.Uvarint(in[2:])
	if how >= hasOver<<1 || k <= 0 || count == 0 || count > uint64(limit-len(dst.Features)) {
		return nil, false
	}
	in = in[2+k:]
	n := int(count)
	lo := len(dst.Features)

	last := d.last[ns]
	size := 0
	if how&sameIndices == 0 {
		size = n * d.width
	} else if int(last.Hi-last.Lo) != n {
		return nil, false
	}
	values := size
	if how&onesOnly == 0 {
		size += 4 * n
	}
	if how&hasOver != 0 {
		size += 4
	}
	if len(in) < size {
		return nil, false
	}
	fs := grow(dst.Features, n)
	out := fs[lo:]
	if how&sameIndices != 0 {
		copy(out, fs[last.Lo:last.Hi])
	} else if !d.indices(out, in[:values]) {
		return nil, false
	}
	if how&onesOnly != 0 {
		for i := range out {
			out[i].Value = 1
		}
	} else {
		in := in[values : values+4*n]
		for i := range out {
			out[i].Value = math.Float32frombits(le.Uint32(in))
			in = in[4:]
		}
	}
	dst.Features = fs
	s := feature.Span{NS: ns, Lo: uint32(lo), Hi: uint32(lo + n)}
	if how&hasOver != 0 {
		s.Over = math.Float32frombits(le.Uint32(in[size-4:]))
	}
	d.last[ns] = s
	dst.Spans = append(dst.Spans, s)
	return in[size:], true
}

// indices reads len(out) indices from in, which has no other data.
func (d *Decoder) indices(out []feature.Feature, in []byte) bool {
	var all uint32
	switch d.width {
	case 3:
		for i := range out {
			k := uint32(in[0]) | uint32(in[1])<<8 | uint32(in[2])<<16
			out[i].Index = k
			all |= k
			in = in[3:]
		}
	default:
		for i := range out {
			var four [4]byte
			copy(four[:], in[:d.width])
			k := le.Uint32(four[:])
			out[i].Index = k
			all |= k
			in = in[d.width:]
		}
	}
	return all&^d.mask == 0
}

// grow makes room for n more features, whose contents are not defined.
func grow(fs []feature.Feature, n int) []feature.Feature {
	if len(fs)+n <= cap(fs) {
		return fs[:len(fs)+n]
	}
	return append(fs, make([]feature.Feature, n)...)
}
