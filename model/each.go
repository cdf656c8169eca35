// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"

	"github.com/gvw-project/gvw/internal/mem"
)

// each visits those of 2^bits weights that are written, in ascending order of their indices.
func (v *View) each(bits uint, visit func(index uint64, weight []float32) error) error {
	if v.Places != nil {
		return v.eachPlace(bits, visit)
	}
	i := 0
	for lo, hi := range mem.Touched(v.Data) {
		hi = min((hi+v.Stride-1)/v.Stride*v.Stride, len(v.Data)) // a weight may lie in two pages
		for i = max(i, lo/v.Stride*v.Stride); i < hi; i += v.Stride {
			weight := v.Data[i : i+v.Stride]
			if !v.any(weight) {
				i += mem.Zeros(v.Data[i+v.Stride:hi]) / v.Stride * v.Stride
				continue
			}
			if err := visit(uint64(i/v.Stride), weight); err != nil {
				return err
			}
		}
	}
	return nil
}

// Weights with places are sorted by index in parts of consecutive indices, so that the memory for it is about two bytes a
// weight. A part has a number of ranges, in which a weight is put before the few weights of a range are sorted.
const (
	rangeBits = 16 // log2 of the number of ranges
	parts     = 4  // of about as many weights each, unless a range has more
)

// eachPlace is each for weights that have places.
func (v *View) eachPlace(bits uint, visit func(index uint64, weight []float32) error) error {
	shift, total := max(int(bits)-rangeBits, 0), 0
	ends := make([]int, 1<<rangeBits) // of the ranges: their sizes at first
	for index := range v.Places.All() {
		ends[index>>shift]++
		total++
	}
	var part []uint64 // index and place of each weight
	for lo := 0; lo < len(ends); {
		hi, n := lo, 0
		for hi < len(ends) && (n == 0 || n+ends[hi] <= total/parts) {
			n, ends[hi] = n+ends[hi], n // the loop below moves the beginning of a range to its end
			hi++
		}
		part = slices.Grow(part[:0], n)[:n]
		for index, place := range v.Places.All() {
			if r := int(index >> shift); r >= lo && r < hi {
				part[ends[r]] = uint64(index)<<32 | uint64(place)
				ends[r]++
			}
		}
		begin := 0
		for _, end := range ends[lo:hi] {
			slices.Sort(part[begin:end])
			begin = end
		}
		if err := v.visitPlaces(part, visit); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// visitPlaces visits weights by their indices and places.
func (v *View) visitPlaces(part []uint64, visit func(index uint64, weight []float32) error) error {
	const group = 32 // weights that are kept without a wait between them
	var kept [group]bool
	for some := range slices.Chunk(part, group) {
		for i, p := range some {
			kept[i] = v.any(v.Data[int(uint32(p))*v.Stride:][:v.Stride])
		}
		for i, p := range some {
			if !kept[i] {
				continue
			}
			if err := visit(p>>32, v.Data[int(uint32(p))*v.Stride:][:v.Stride]); err != nil {
				return err
			}
		}
	}
	return nil
}
