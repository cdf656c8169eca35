// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// plain returns the values of a page in plain encoding.
func plain(encoding, physical int64, page []byte, values int64) ([]byte, error) {
	size := map[int64]int{typeInt32: 4, typeInt64: 8, typeFloat: 4, typeDbl: 8}[physical]
	switch {
	case encoding == encodingDelta && (physical == typeInt32 || physical == typeInt64):
		var dst []byte
		_, err := deltas(page, values, size, func(v uint64) error {
			if len(dst)+size > maxPage {
				return errTooLong
			}
			if size == 4 {
				dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
			} else {
				dst = binary.LittleEndian.AppendUint64(dst, v)
			}
			return nil
		})
		return dst, err
	case encoding == encodingDeltaLength && physical == typeBytes:
		return deltaTexts(page, nil, values)
	case encoding == encodingDeltaBytes && physical == typeBytes:
		var prefixes []uint32
		rest, err := lengths(page, values, &prefixes)
		if err != nil {
			return nil, err
		}
		return deltaTexts(rest, prefixes, values)
	case encoding == encodingSplit && size > 0:
		return joinStreams(page, size), nil
	}
	name, known := encodings[encoding]
	if !known {
		name = fmt.Sprint("number ", encoding)
	}
	return nil, fmt.Errorf("encoding %s is not supported for its type: write the file with plain or dictionary encoding", name)
}

var errTooLong = fmt.Errorf("the values of a page take more than %d bytes", maxPage)

var errDelta = errors.New("a page with delta encoding is damaged")

// deltas calls value for each whole number of a page in DELTA_BINARY_PACKED, of size bytes, and returns the bytes that
// follow them. The differences wrap around.
func deltas(b []byte, limit int64, size int, value func(uint64) error) (rest []byte, err error) {
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			err, n = errDelta, len(b)
		}
		b = b[n:]
		return v
	}
	block, parts, count := next(), next(), next()
	v := zigzag(next())
	switch {
	case err != nil:
		return nil, err
	case block == 0 || parts == 0 || block > 1<<20 || parts > block || block%parts != 0 || block/parts%8 != 0 || count > uint64(limit):
		return nil, errDelta
	}
	perPart := block / parts
	if count > 0 {
		if err := value(v); err != nil {
			return nil, err
		}
		count--
	}
	for count > 0 {
		least := zigzag(next())
		if err != nil || uint64(len(b)) < parts {
			return nil, errDelta
		}
		widths := b[:parts]
		b = b[parts:]
		for _, w := range widths {
			if count == 0 {
				break // the format leaves out parts without values
			}
			n := perPart / 8 * uint64(w)
			if int(w) > 8*size || n > uint64(len(b)) {
				return nil, errDelta
			}
			packed := b[:n]
			b = b[n:]
			for i := range min(count, perPart) {
				v += least + bitsAt(packed, i*uint64(w), uint(w))
				if err := value(v); err != nil {
					return nil, err
				}
			}
			count -= min(count, perPart)
		}
	}
	return b, nil
}

// bitsAt returns width bits from bit at on; width is at most 64.
func bitsAt(b []byte, at uint64, width uint) uint64 {
	if width == 0 {
		return 0
	}
	var window [16]byte // of which the bits take nine at most
	copy(window[:9], b[at/8:])
	shift := uint(at % 8)
	v := binary.LittleEndian.Uint64(window[:]) >> shift
	v |= uint64(window[8]) << (64 - shift) // nothing if shift is 0
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

func zigzag(v uint64) uint64 { return v>>1 ^ -(v & 1) }

// lengths appends the lengths of texts to dst and returns the bytes behind them.
func lengths(b []byte, limit int64, dst *[]uint32) ([]byte, error) {
	return deltas(b, limit, 4, func(v uint64) error {
		if uint32(v) > maxPage {
			return errDelta
		}
		if len(*dst) >= maxPage/4 {
			return errTooLong
		}
		*dst = append(*dst, uint32(v))
		return nil
	})
}

// deltaTexts returns texts whose lengths precede all of them. With prefixes, each begins with so many bytes of the one
// before it.
func deltaTexts(b []byte, prefixes []uint32, limit int64) ([]byte, error) {
	var sizes []uint32
	b, err := lengths(b, limit, &sizes)
	switch {
	case err != nil:
		return nil, err
	case prefixes != nil && len(prefixes) != len(sizes):
		return nil, errDelta
	}
	var dst []byte
	var last int // where the text before begins
	for i, n := range sizes {
		var prefix uint32
		if prefixes != nil {
			prefix = prefixes[i]
		}
		before := dst[last:]
		if uint64(n) > uint64(len(b)) || uint64(prefix) > uint64(len(before)) {
			return nil, errDelta
		}
		if uint64(len(dst))+4+uint64(prefix)+uint64(n) > maxPage {
			return nil, errTooLong
		}
		dst = binary.LittleEndian.AppendUint32(slices.Grow(dst, 4+int(prefix)+int(n)), prefix+n)
		last = len(dst)
		dst = append(append(dst, before[:prefix]...), b[:n]...)
		b = b[n:]
	}
	return dst, nil
}

// joinStreams returns the values of BYTE_STREAM_SPLIT: the first bytes of all values are followed by all second ones,
// and so on.
func joinStreams(page []byte, size int) []byte {
	n := len(page) / size
	dst := make([]byte, n*size)
	for k := range size {
		for i, c := range page[k*n : (k+1)*n] {
			dst[i*size+k] = c
		}
	}
	return dst
}
