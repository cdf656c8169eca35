// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"encoding/binary"
	"math/bits"

	"github.com/gvw-project/gvw/feature/internal/number"
)

// Eight bytes of text at once: ones and tops are 0x01 and 0x80 in each byte.
const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// stops marks, in the top bits of the bytes of w, the first byte that may end a
// name: ':', '|', or one from 0 to ' '. Marks above the first one mean nothing.
func stops(w uint64) uint64 {
	colon := w ^ ones*':'
	bar := w ^ ones*'|'
	return ((w-ones*(' '+1))&^w | (colon-ones)&^colon | (bar-ones)&^bar) & tops
}

// features reads ' ' name[:value], repeated, from line[i] on, and returns where it stopped. Its
// loop handles the usual features of most files: a name of 1 to 7 bytes that does not begin
// with a digit, with no value or a short decimal one. All others are read by the method
// feature.
func (p *Parser) features(dst *Batch, line []byte, i int, salt uint32, factor float32) int {
	fs := dst.Features
	mask, hashAll := p.mask, p.hashAll
	var anonymous uint32
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		if p.fast {
			fs, i = p.scan(fs, line, i, salt, factor)
		}
		i++
		if i+8 <= len(line) {
			w := binary.LittleEndian.Uint64(line[i:])
			n := bits.TrailingZeros64(stops(w)) &^ 7 // the name's length in bits; 64: longer
			end := byte(w >> (n & 63))
			if uint(n-8) < 56 && (end == ' ' || end == ':' || end == '\t') && (hashAll || byte(w)-'0' > 9) {
				hash := murmurWord(w&(1<<n-1), int(n>>3), salt)
				i += int(n >> 3)
				v := factor
				if end == ':' {
					x, k := number.Short(line[i+1:])
					if k > 0 {
						i += 1 + k
						v *= x
					} else {
						hash, v, i = p.valued(line, i+1, hash, factor)
					}
				}
				if v != 0 {
					fs = append(fs, Feature{Index: hash & mask, Value: v})
				}
				continue
			}
		}
		var hash uint32
		var v float32
		if hash, v, i = p.feature(line, i, salt, factor, &anonymous); v != 0 {
			fs = append(fs, Feature{Index: hash & mask, Value: v})
		}
	}
	dst.Features = fs
	return i
}

// feature reads one feature of any form at line[i]; v is 0 if there is none.
func (p *Parser) feature(line []byte, i int, salt uint32, factor float32, anonymous *uint32) (hash uint32, v float32, next int) {
	start := i
	for !endsName(line, i) && line[i] != ':' {
		i++
	}
	name := line[start:i]
	colon := i < len(line) && line[i] == ':'
	switch {
	case len(name) > 0 && colon:
		return p.valued(line, i+1, p.hash(name, salt), factor)
	case len(name) > 0:
		return p.hash(name, salt), factor, i
	case colon: // ":2" is numbered from the namespace's hash on, ":red" is text
		x, text, next := p.value(line, i+1)
		if len(text) > 0 {
			p.text = text
			return p.hash(text, p.hash(name, salt)), 1, next
		}
		hash = salt + *anonymous
		*anonymous++
		if text != nil {
			return hash, 1, next
		}
		return hash, factor * x, next
	}
	return 0, 0, i // blanks in a row
}

// valued reads the value, which begins at line[i], of the feature whose name
// has this hash. Text as a value gives a further feature, "color:red", with
// the value 1, to which vw does not apply the factor.
func (p *Parser) valued(line []byte, i int, hash uint32, factor float32) (uint32, float32, int) {
	x, text, next := p.value(line, i)
	switch {
	case len(text) > 0:
		p.text = text
		return p.hash(text, hash), 1, next
	case text != nil:
		return hash, 1, next
	}
	return hash, factor * x, next
}

// value reads the value of a feature, which begins at line[i], after the ':'. If
// it is not a number it is text, not nil; the empty text at the end of a line
// stands for no value.
func (p *Parser) value(line []byte, i int) (x float32, text []byte, next int) {
	x, n := number.Parse(line[i:])
	if n > 0 {
		if x != x {
			p.b.Fault(", replacing with 0", "invalid feature value %q read as NaN", clip(line[i:i+n]))
			x = 0
		}
		return x, nil, i + n
	}
	// vw looks for the text beyond blanks: the "y" of "x: y" is x's value.
	start := i
	for start < len(line) && isBlank(line[start]) {
		start++
	}
	if start == len(line) {
		return 0, line[i:i:i], i
	}
	end := start
	for end < len(line) && !isBlank(line[end]) {
		end++
	}
	return 0, line[start:end], end
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
