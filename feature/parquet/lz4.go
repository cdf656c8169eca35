// SPDX-License-Identifier: Apache-2.0

package parquet

import "errors"

var errLZ4 = errors.New("a block of LZ4 is damaged")

// lz4 decompresses one block of LZ4 to size bytes.
func lz4(b []byte, size int64) ([]byte, error) {
	dst := make([]byte, 0, min(size, 255*int64(len(b)))) // no byte yields more
	length := func(n int) (int, bool) {
		for more := n == 15; more; {
			if len(b) == 0 {
				return 0, false
			}
			more = b[0] == 255
			n += int(b[0])
			b = b[1:]
		}
		return n, true
	}
	for len(b) > 0 {
		token := b[0]
		b = b[1:]
		literals, ok := length(int(token >> 4))
		if !ok || literals > len(b) || int64(literals) > size-int64(len(dst)) {
			return nil, errLZ4
		}
		dst = append(dst, b[:literals]...)
		if b = b[literals:]; len(b) == 0 {
			return dst, nil // the last sequence has only literals
		}
		if len(b) < 2 {
			return nil, errLZ4
		}
		back := int(b[0]) | int(b[1])<<8
		b = b[2:]
		match, ok := length(int(token & 15))
		match += 4
		if !ok || back == 0 || back > len(dst) || int64(match) > size-int64(len(dst)) {
			return nil, errLZ4
		}
		for from := len(dst) - back; match > 0; { // the match may overlap what it appends
			n := min(match, len(dst)-from)
			dst = append(dst, dst[from:from+n]...)
			match -= n
		}
	}
	return dst, nil
}
