// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Encodings of values.
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingDelta           = 5
	encodingDeltaLength     = 6
	encodingDeltaBytes      = 7
	encodingDictionary      = 8
	encodingSplit           = 9
)

var encodings = map[int64]string{
	4: "BIT_PACKED", 5: "DELTA_BINARY_PACKED", 6: "DELTA_LENGTH_BYTE_ARRAY", 7: "DELTA_BYTE_ARRAY", 9: "BYTE_STREAM_SPLIT",
}

var errShort = errors.New("the page is shorter than its values")

// hybrid reads whole numbers in Parquet's mixture of runs and packed bits.
type hybrid struct {
	b      []byte
	width  uint // bits, at most 32
	left   uint64
	value  uint32 // of the run
	packed []byte // nil: a run
	bit    uint64 // of packed
}

func (h *hybrid) next() (uint32, error) {
	for h.left == 0 {
		if err := h.begin(); err != nil {
			return 0, err
		}
	}
	h.left--
	if h.packed == nil {
		return h.value, nil
	}
	var word [8]byte
	copy(word[:], h.packed[h.bit>>3:])
	v := binary.LittleEndian.Uint64(word[:]) >> (h.bit & 7) & (1<<h.width - 1)
	h.bit += uint64(h.width)
	return uint32(v), nil
}

// open takes the levels from 0 to most at the begin of a page, and returns the rest of the page.
func (h *hybrid) open(page []byte, encoding int64, most uint32) (rest []byte, err error) {
	if encoding != encodingRLE {
		return nil, fmt.Errorf("levels have encoding %d, want RLE", encoding)
	}
	if len(page) < 4 {
		return nil, errShort
	}
	n := binary.LittleEndian.Uint32(page)
	if page = page[4:]; uint64(n) > uint64(len(page)) {
		return nil, errShort
	}
	*h = hybrid{b: page[:n], width: uint(bits.Len32(most))}
	return page[n:], nil
}

// begin reads the head of a run.
func (h *hybrid) begin() error {
	head, n := binary.Uvarint(h.b)
	if n <= 0 {
		return errShort
	}
	h.b = h.b[n:]
	h.left = head >> 1
	size := uint64(h.width+7) / 8
	if head&1 == 1 {
		if h.left > uint64(len(h.b)) && h.width > 0 || h.left > 1<<32 {
			return errShort
		}
		size = h.left * uint64(h.width)
		h.left *= 8
	}
	if size > uint64(len(h.b)) {
		return errShort
	}
	data := h.b[:size:size]
	h.b = h.b[size:]
	if h.packed, h.bit = nil, 0; head&1 == 1 {
		h.packed = data
		if data == nil {
			h.packed = []byte{}
		}
		return nil
	}
	var word [4]byte
	copy(word[:], data)
	h.value = binary.LittleEndian.Uint32(word[:])
	return nil
}

// decompress returns the bytes of a page.
func decompress(codec int64, stored []byte, size int64) ([]byte, error) {
	if size < 0 || size > maxPage {
		return nil, fmt.Errorf("a page of %d bytes: want at most %d", size, maxPage)
	}
	if size == 0 && len(stored) == 0 {
		return nil, nil // no value is defined: some writers leave out the empty stream, whatever the compression
	}
	var page []byte
	var err error
	switch codec {
	case 0:
		page = stored
	case 1:
		n, e := snappy.DecodedLen(stored)
		if e != nil || int64(n) != size {
			return nil, errors.New("the page's length is wrong")
		}
		page, err = snappy.Decode(nil, stored)
	case 2:
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(stored)); err == nil {
			page, err = io.ReadAll(io.LimitReader(z, size+1))
		}
	case 6:
		var z *zstd.Decoder
		if z, err = zstd.NewReader(bytes.NewReader(stored), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage)); err == nil {
			page, err = io.ReadAll(io.LimitReader(z, size+1))
			z.Close()
		}
	case 7:
		page, err = lz4(stored, size)
	default:
		name, known := map[int64]string{3: "LZO", 4: "BROTLI", 5: "LZ4"}[codec]
		if !known {
			name = fmt.Sprint("number ", codec)
		}
		return nil, fmt.Errorf("compression %s is not supported: write the file with snappy, gzip, zstd, LZ4_RAW or none", name)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot decompress a page: %w", err)
	}
	if int64(len(page)) != size {
		return nil, errors.New("the page's length is wrong")
	}
	return page, nil
}
