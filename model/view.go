// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"iter"
)

// View is weights within a strided array: float k of weight i is
// Data[i*Stride+Slots[k]]. Slot 0 is the weight itself; the others are what
// the update rule keeps beside it (adaptive: the sum of squared gradients G;
// normalised: the scale N; both: G, N).
type View struct {
	Data   []float32
	Stride int   // floats per weight in Data; 0: 1
	Slots  []int // offsets within a weight's floats; nil: only the weight, at 0
	// Places has the places of weights in Data; nil: weight i is at place i. Weights without a place are 0. Models of
	// rows (Header.RowFloats) have no places.
	Places Places
}

// Places are the places of the weights in an array that has only some of them. The array may have room for more.
type Places interface {
	// All yields the index and the place of each weight that has a place, in any order.
	All() iter.Seq2[uint32, int]
	// Weight returns the floats of the weight with an index, to which a file has values. The weight gets a
	// place if it has none.
	Weight(index uint32) []float32
}

// maxFloats bounds the floats kept per weight.
const maxFloats = 8

var firstSlot = []int{0}

// fill replaces zero values by their defaults.
func (v View) fill() View {
	if v.Stride == 0 {
		v.Stride = 1
	}
	if v.Slots == nil {
		v.Slots = firstSlot
	}
	return v
}

// check returns an error for an invalid filled view of 2^bits weights.
func (v View) check(bits uint) error {
	if bits > maxBits || v.Stride < 1 || v.Places == nil && int64(len(v.Data)) != int64(v.Stride)<<bits {
		return fmt.Errorf("model: a view of %d floats with stride %d does not hold 2^%d weights", len(v.Data), v.Stride, bits)
	}
	if len(v.Slots) == 0 || len(v.Slots) > maxFloats {
		return fmt.Errorf("model: %d slots per weight, want 1 to %d", len(v.Slots), maxFloats)
	}
	for _, s := range v.Slots {
		if s < 0 || s >= v.Stride {
			return fmt.Errorf("model: slot %d lies outside the stride of %d", s, v.Stride)
		}
	}
	return nil
}
