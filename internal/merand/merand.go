// SPDX-License-Identifier: Apache-2.0

// Package merand is the random number generator of Vowpal Wabbit, for results that must
// be equal to vw's number by number: random initial weights, and the order in which
// one-against-all learns from a subsample of the classes.
//
//	s := merand.State(seed)
//	s.Float() // from 0, below 1; the same numbers as vw's --random_seed
//
// It is a linear congruential generator of 64 bits: good enough for these
// uses, and for no others.
package merand

import "math"

// State is the generator. Any value is one; vw's default seed is 0.
type State uint64

const (
	factor    = 0xeece66d5deece66d
	increment = 2147483647
)

// Float returns the next number: the top bits become the fraction of a float32
// between 1 and 2, less 1.
func (s *State) Float() float32 {
	*s = factor**s + increment
	fraction := uint32(*s>>25) & 0x7fffff
	return math.Float32frombits(127<<23|fraction) - 1
}
