// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/crc32c"
)

const (
	blockMagic  = "blok"
	blockHeader = 20

	// Limits of one block. A writer cuts its chunks of text after every whole line, so its
	// blocks stay below them. The limits bound only the memory that a damaged or hostile file
	// can request.
	maxPayload  = 1 << 30
	maxFeatures = feature.MaxFeatures
	maxSpans    = 257 // each first byte, and the constant
)

// The flags at the beginning of an encoded example.
const (
	hasLabel = 1 << iota
	hasWeight
	hasInitial
	hasTag
	hasBefore
	hasCosts
)

// How a namespace is stored.
const (
	onesOnly = 1 << iota
	sameIndices
	hasOver
)

var le = binary.LittleEndian

// width returns the bytes of an index.
func width(bits uint) int { return int(bits+7) / 8 }

// An Encoder turns batches into blocks. It keeps scratch memory, so that a warm
// one allocates nothing. Not for use by more than one goroutine at a time.
type Encoder struct {
	width int
	last  [256]feature.Span // the last occurrence of each namespace in the block
}

// NewEncoder makes an encoder of features of so many bits.
func NewEncoder(bits uint) *Encoder { return &Encoder{width: width(bits)} }

// Append appends b as one block to dst. The spans of an example must cover its
// features: no interactions. The error is a block over the size that a reader
// would take.
func (e *Encoder) Append(dst []byte, b *feature.Batch) ([]byte, error) {
	if len(b.Features) > maxFeatures {
		return dst, fmt.Errorf("cache: %d features in one block, the limit is %d: shorten the lines", len(b.Features), maxFeatures)
	}
	clear(e.last[:])
	start := len(dst)
	dst = append(dst, blockMagic...)
	dst = append(dst, make([]byte, blockHeader-len(blockMagic))...)
	for i := range b.Examples {
		dst = e.example(dst, b, &b.Examples[i])
	}
	payload := dst[start+blockHeader:]
	if len(payload) > maxPayload {
		return dst[:start], fmt.Errorf("cache: a block of %d bytes, the limit is %d: shorten the lines", len(payload), maxPayload)
	}
	head := dst[start : start+blockHeader]
	le.PutUint32(head[4:], uint32(len(payload)))
	le.PutUint32(head[8:], uint32(len(b.Examples)))
	le.PutUint32(head[12:], uint32(len(b.Features)))
	le.PutUint32(head[16:], blockSum(head, payload))
	return dst, nil
}

func blockSum(head, payload []byte) uint32 {
	return crc32c.Update(crc32c.Checksum(head[:16]), payload)
}

func (e *Encoder) example(dst []byte, b *feature.Batch, ex *feature.Example) []byte {
	var has byte
	at := len(dst)
	dst = append(dst, 0)
	if ex.Labeled() {
		has |= hasLabel
		dst = le.AppendUint32(dst, math.Float32bits(ex.Label))
	}
	if ex.Weight != 1 {
		has |= hasWeight
		dst = le.AppendUint32(dst, math.Float32bits(ex.Weight))
	}
	if math.Float32bits(ex.Initial) != 0 {
		has |= hasInitial
		dst = le.AppendUint32(dst, math.Float32bits(ex.Initial))
	}
	if tag := b.TagOf(ex); len(tag) > 0 {
		has |= hasTag
		dst = binary.AppendUvarint(dst, uint64(len(tag)))
		dst = append(dst, tag...)
	}
	if ex.Before > 0 {
		has |= hasBefore
		dst = binary.AppendUvarint(dst, uint64(ex.Before))
	}
	if costs := b.CostsOf(ex); len(costs) > 0 {
		has |= hasCosts
		dst = binary.AppendUvarint(dst, uint64(len(costs)))
		for _, c := range costs {
			dst = le.AppendUint32(dst, c.Class)
			dst = le.AppendUint32(dst, math.Float32bits(c.Cost))
		}
	}
	dst[at] = has

	spans := b.SpansOf(ex)
	dst = binary.AppendUvarint(dst, uint64(len(spans)))
	covered := ex.FeatLo
	for _, s := range spans {
		if s.Lo != covered {
			panic(fmt.Sprintf("BUG: cache: namespace %q begins at feature %d, not at %d", s.NS, s.Lo, covered))
		}
		covered = s.Hi
		dst = e.span(dst, b.Features, s)
	}
	if covered != ex.FeatHi {
		panic(fmt.Sprintf("BUG: cache: an example with %d features outside its namespaces (interactions?)", ex.FeatHi-covered))
	}
	return dst
}

func (e *Encoder) span(dst []byte, all []feature.Feature, s feature.Span) []byte {
	fs := all[s.Lo:s.Hi]
	how := byte(onesOnly)
	for i := range fs {
		if fs[i].Value != 1 {
			how = 0
			break
		}
	}
	if same(all[e.last[s.NS].Lo:e.last[s.NS].Hi], fs) {
		how |= sameIndices
	}
	if s.Over != 0 {
		how |= hasOver
	}
	e.last[s.NS] = s
	dst = append(dst, s.NS, how)
	dst = binary.AppendUvarint(dst, uint64(len(fs)))
	if how&sameIndices == 0 {
		dst = appendIndices(dst, fs, e.width)
	}
	if how&onesOnly == 0 {
		for i := range fs {
			dst = le.AppendUint32(dst, math.Float32bits(fs[i].Value))
		}
	}
	if how&hasOver != 0 {
		dst = le.AppendUint32(dst, math.Float32bits(s.Over))
	}
	return dst
}

func appendIndices(dst []byte, fs []feature.Feature, width int) []byte {
	switch width {
	case 3:
		for i := range fs {
			k := fs[i].Index
			dst = append(dst, byte(k), byte(k>>8), byte(k>>16))
		}
	default:
		var four [4]byte
		for i := range fs {
			le.PutUint32(four[:], fs[i].Index)
			dst = append(dst, four[:width]...)
		}
	}
	return dst
}

func same(a, b []feature.Feature) bool {
	if len(a) != len(b) || len(b) == 0 {
		return false
	}
	for i := range a {
		if a[i].Index != b[i].Index {
			return false
		}
	}
	return true
}
