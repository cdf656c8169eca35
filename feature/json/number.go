// SPDX-License-Identifier: Apache-2.0

package json

import (
	"math"

	"github.com/gvw-project/gvw/feature"
)

// number reads a number as vw's JSON reader does. Digits are accumulated in an integer of 64
// bits and, beyond it, in a float64 that is scaled by one power of ten. The result is rounded
// to float32, and in rare cases differs from the nearest float32. Predictions equal to vw's
// need the same result.
func (p *Parser) number() (float32, *feature.MalformedError) {
	n := numeral{line: p.line, i: p.i}
	v, fault := n.read()
	if fault != "" {
		p.i = n.i
		return 0, p.fault("%s", fault)
	}
	p.i = n.i
	return v, nil
}

// numeral is a number in work.
type numeral struct {
	line []byte
	i    int

	negative bool
	whole    uint64  // the digits, while they fit
	d        float64 // instead, if wide
	wide     bool
	digits   int // significant ones
	exponent int // of ten: what the digits behind the point take off
}

// digit returns the next byte as a digit; above 9: it is none.
func (n *numeral) digit() byte {
	if n.i == len(n.line) {
		return 0xff
	}
	return n.line[n.i] - '0'
}

func (n *numeral) at(c byte) bool { return n.i < len(n.line) && n.line[n.i] == c }

// read returns the number, or a description of its fault.
func (n *numeral) read() (v float32, fault string) {
	if n.at('-') {
		n.negative = true
		n.i++
	}
	if n.digit() > 9 {
		return 0, "a value is needed"
	}
	n.integer()
	fraction := n.at('.')
	if fraction {
		n.i++
		if n.digit() > 9 {
			return 0, "a digit is needed behind the point"
		}
		n.fraction()
	}
	scale := n.exponent
	if n.at('e') || n.at('E') {
		e, fault := n.power()
		if fault != "" {
			return 0, fault
		}
		scale += e
		n.widen()
	}
	if !n.wide {
		return n.small(), ""
	}
	d := scaled(n.d, scale)
	if math.IsInf(d, 0) {
		return 0, "the number is too large"
	}
	if n.negative {
		d = -d
	}
	return float32(d), ""
}

// small returns the number if it is whole and fits an integer.
func (n *numeral) small() float32 {
	if n.negative {
		return float32(-int64(n.whole))
	}
	return float32(n.whole)
}

// integer reads the digits before the point. A leading 0 must be the only one.
func (n *numeral) integer() {
	limit, last := uint64(math.MaxUint64/10), byte(math.MaxUint64%10)
	if n.negative {
		limit, last = 1<<63/10, 1<<63%10
	}
	n.whole = uint64(n.digit())
	n.i++
	if n.whole == 0 {
		return
	}
	for ; n.digit() <= 9; n.i++ {
		c := n.digit()
		if !n.wide && (n.whole > limit || n.whole == limit && c > last) {
			n.widen()
		}
		if n.wide {
			n.d = float64(n.d*10) + float64(c)
		} else {
			n.whole = n.whole*10 + uint64(c)
		}
		n.digits++
	}
}

func (n *numeral) widen() {
	if !n.wide {
		n.wide, n.d = true, float64(n.whole)
	}
}

// fraction reads the digits after the point: as an integer while it is below 2^53, then 17
// significant digits at most.
func (n *numeral) fraction() {
	if !n.wide {
		for ; n.digit() <= 9 && n.whole <= 1<<53-1; n.i++ {
			n.whole = n.whole*10 + uint64(n.digit())
			n.exponent--
			if n.whole != 0 {
				n.digits++
			}
		}
		n.widen()
	}
	for ; n.digit() <= 9; n.i++ {
		if n.digits < 17 {
			n.d = float64(n.d*10) + float64(n.digit())
			n.exponent--
			if n.d > 0 {
				n.digits++
			}
		}
	}
}

// power reads the exponent.
func (n *numeral) power() (e int, fault string) {
	n.i++
	down := n.at('-')
	if down || n.at('+') {
		n.i++
	}
	if n.digit() > 9 {
		return 0, "a digit is needed in the exponent"
	}
	for ; n.digit() <= 9; n.i++ {
		e = min(e*10+int(n.digit()), 1<<30)
	}
	if down {
		return -e, ""
	}
	if e > 308-n.exponent {
		return 0, "the number is too large"
	}
	return e, ""
}

// scaled is d·10^k, in two steps where 10^k is not a number.
func scaled(d float64, k int) float64 {
	if k < -308 {
		return over(over(d, 308), min(-k-308, 1000))
	}
	if k < 0 {
		return over(d, -k)
	}
	return d * tens[k]
}

// over is d/10^k.
func over(d float64, k int) float64 {
	if k > 308 {
		return 0
	}
	return d / tens[k]
}

// tens are the powers of ten as float64.
var tens = func() (t [309]float64) {
	for k := range t {
		t[k] = math.Pow10(k)
	}
	return t
}()
