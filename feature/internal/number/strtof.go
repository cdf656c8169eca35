// SPDX-License-Identifier: Apache-2.0

package number

import (
	"math"
	"strconv"
)

// strtof implements C's strtof in the "C" locale. It returns the value of the longest
// prefix of b that is a number, rounded to the nearest float32, and the prefix's length;
// 0 if there is none. White space before the number is part of the prefix.
func strtof(b []byte) (float32, int) {
	i := 0
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	negative := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	rest := b[i:]
	var v float32
	n := 0
	switch {
	case hasPrefixFold(rest, "infinity"):
		v, n = float32(math.Inf(1)), len("infinity")
	case hasPrefixFold(rest, "inf"):
		v, n = float32(math.Inf(1)), len("inf")
	case hasPrefixFold(rest, "nan"):
		v, n = float32(math.NaN()), len("nan")+nanPayload(rest[len("nan"):])
	default:
		n = hexLength(rest)
		hex := n > 0
		exponent := hex && hasExponent(rest[:n], 'p')
		if !hex {
			n = decimalLength(rest)
		}
		if n == 0 {
			return 0, 0
		}
		// The conversion does not outlive the call, so a number of usual
		// length costs no memory.
		var x float64
		var err error
		if hex && !exponent {
			x, err = strconv.ParseFloat(string(rest[:n])+"p0", 32)
		} else {
			x, err = strconv.ParseFloat(string(rest[:n]), 32)
		}
		if err != nil && !math.IsInf(x, 0) { // out of range gives ±Inf, as in C
			panic("BUG: number: " + err.Error())
		}
		v = float32(x)
	}
	if negative {
		v = -v
	}
	return v, i + n
}

// decimalLength returns the length of [0-9]*(.[0-9]*)?([eE][+-]?[0-9]+)? at the
// beginning of b; 0 without a digit before the exponent.
func decimalLength(b []byte) int {
	i := digits(b, isDecimal)
	count := i
	if i < len(b) && b[i] == '.' {
		n := digits(b[i+1:], isDecimal)
		count += n
		i += 1 + n
	}
	if count == 0 {
		return 0
	}
	return i + exponentLength(b[i:], 'e')
}

// hexLength returns the length of 0[xX]hex*(.hex*)?([pP][+-]?[0-9]+)? at the
// beginning of b; 0 if there is no such number.
func hexLength(b []byte) int {
	if len(b) < 3 || b[0] != '0' || b[1]|0x20 != 'x' {
		return 0
	}
	i := 2 + digits(b[2:], isHex)
	count := i - 2
	if i < len(b) && b[i] == '.' {
		n := digits(b[i+1:], isHex)
		count += n
		i += 1 + n
	}
	if count == 0 {
		return 0
	}
	return i + exponentLength(b[i:], 'p')
}

// exponentLength returns the length of an exponent at the beginning of b, 0 if there
// is no whole one.
func exponentLength(b []byte, letter byte) int {
	if len(b) == 0 || b[0]|0x20 != letter {
		return 0
	}
	i := 1
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		i++
	}
	n := digits(b[i:], isDecimal)
	if n == 0 {
		return 0
	}
	return i + n
}

func hasExponent(b []byte, letter byte) bool {
	for _, c := range b {
		if c|0x20 == letter {
			return true
		}
	}
	return false
}

// nanPayload returns the length of "(letters, digits and _)" at the beginning of b.
func nanPayload(b []byte) int {
	if len(b) == 0 || b[0] != '(' {
		return 0
	}
	for i, c := range b[1:] {
		if c == ')' {
			return i + 2
		}
		if !isDecimal(c) && c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') {
			return 0
		}
	}
	return 0
}

func digits(b []byte, is func(byte) bool) int {
	n := 0
	for n < len(b) && is(b[n]) {
		n++
	}
	return n
}

func isDecimal(c byte) bool { return c-'0' <= 9 }

func isHex(c byte) bool { return c-'0' <= 9 || c|0x20-'a' <= 5 }

func isSpace(c byte) bool { return c == ' ' || c-'\t' <= '\r'-'\t' }

func hasPrefixFold(b []byte, prefix string) bool {
	if len(b) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if b[i]|0x20 != prefix[i] {
			return false
		}
	}
	return true
}
