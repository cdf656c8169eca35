// SPDX-License-Identifier: Apache-2.0

// Package number reads numbers as vw does, with the same bits.
//
//	v, n := number.Parse([]byte("0.25 |")) // 0.25, 4
//
// [Parse] accepts what vw accepts. [Short] is its fast part, for the usual numbers of data: a
// parser tries it first where a call costs much. Numbers that vw leaves to the C library are read
// by the rules of C's strtof.
package number

import "math"

// powersUp has the powers of ten as vw's table has them: by repeated multiplication by ten in
// float32, which does not give the nearest float32 of each power.
var powersUp = powers(39, func(x float32) float32 { return x * 10 })

// PowersDown has 10^-k at position k, likewise by repeated division. It is read only; assembly
// that reads short decimals needs its address.
var PowersDown = powers(38, func(x float32) float32 { return x / 10 })

func powers(n int, next func(float32) float32) []float32 {
	t := make([]float32, n)
	for x, i := float32(1), 0; i < n; i++ {
		t[i], x = x, next(x)
	}
	return t
}

// Parse reads the number at the beginning of b as vw does, and returns it
// with the count of bytes that belong to it: 0 if b does not begin with a
// number. Blanks before the number are skipped, and count.
//
// A plain decimal that is followed by a blank, a tab, a line feed or the end of
// b is accumulated in float32, digit by digit, and scaled by a power of ten from
// a table, so that it may differ from the nearest float32 in the last bits.
// Everything else is left to the rules of C's strtof: signs, "inf", "nan",
// hexadecimal, numbers with something behind them.
func Parse(b []byte) (float32, int) {
	if v, n := Short(b); n > 0 {
		return v, n
	}
	return longDecimal(b)
}

// Short reads -?[0-9]*(\.[0-9]*)? of at most 7 digits: their sum as an
// integer is below 2^24, so that float32 holds it and what vw accumulates is
// exact. It returns 0 bytes if b does not begin with such a number.
func Short(b []byte) (float32, int) {
	i := 0
	var sign uint32
	if len(b) > 0 && b[0] == '-' {
		sign = 1 << 31
		i = 1
	}
	digits := i + 7
	var acc uint32
	for i < len(b) {
		d := uint32(b[i] - '0')
		if d > 9 {
			break
		}
		acc = acc*10 + d
		i++
	}
	decimals := 0
	if i < len(b) && b[i] == '.' {
		i++
		digits++
		point := i
		for i < len(b) {
			d := uint32(b[i] - '0')
			if d > 9 {
				break
			}
			acc = acc*10 + d
			i++
		}
		decimals = i - point
	}
	if i > digits || i < len(b) && b[i] != ' ' && b[i] != '\t' {
		return 0, 0
	}
	v := float32(acc) * PowersDown[decimals&7]
	return math.Float32frombits(math.Float32bits(v) | sign), i
}

// longDecimal is vw's parse_float in full.
func longDecimal(b []byte) (float32, int) {
	if len(b) == 0 || b[0] == 0 {
		return 0, 0
	}
	i := 0
	at := func() byte { // the byte at i; the end of b looks like the end of a line
		if i < len(b) {
			return b[i]
		}
		return '\n'
	}
	digit := func() bool { return at()-'0' <= 9 }
	for at() == ' ' {
		i++
	}
	negative := at() == '-'
	if negative {
		i++
	}
	var acc float32
	for ; digit(); i++ {
		// vw adds the character and subtracts '0' again, rounding each time.
		acc = float32(float32(acc*10)+float32(b[i])) - '0'
	}
	decimals := 0
	if at() == '.' {
		for i++; digit(); i++ {
			if decimals < 35 {
				acc = float32(acc*10) + float32(b[i]-'0')
				decimals++
			}
		}
	}
	var exponent int32
	if c := at(); c == 'e' || c == 'E' {
		i++
		down := at() == '-'
		if down {
			i++
		}
		for ; digit(); i++ {
			exponent = exponent*10 + int32(b[i]-'0')
		}
		if down {
			exponent = -exponent
		}
	}
	if c := at(); c != ' ' && c != '\t' && c != '\n' {
		return strtof(b)
	}
	acc *= power(int8(exponent - int32(decimals))) // 8 bits, as vw has it: 1e256 is 1
	if negative {
		acc = -acc
	}
	return acc, i
}

// power is 10^k from the tables.
func power(k int8) float32 {
	switch {
	case k > 38:
		return float32(math.Inf(1))
	case k >= 0:
		return powersUp[k]
	case k >= -37:
		return PowersDown[-k]
	}
	return 0
}
