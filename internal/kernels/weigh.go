// SPDX-License-Identifier: Apache-2.0

package kernels

// The weights of vw's learner, as AccumulateWeightedAvg knows them.
const (
	AdaptiveSlot = 1
	weightCell   = 4 // slots of a weight
)

// Weigh makes dst of this rank's weights in src, as its share in the average: what is
// left is to add up the shares of all ranks. sums are those of all ranks' adaptive slots,
// one for each weight. dst is src, or does not overlap it. See AccumulateWeightedAvgInto.
func Weigh(dst, src, sums []float32, stride, normalizedSlot, scratchSlot int) {
	done := 0
	if stride == weightCell {
		done = weighFast(dst, src, sums, normalizedSlot, scratchSlot)
	}
	if &dst[0] != &src[0] {
		copy(dst[done*stride:], src[done*stride:])
	}
	for i, sum := range sums[done:] {
		slots := dst[(done+i)*stride:][:stride]
		if scratchSlot > 0 {
			slots[scratchSlot] = 0
		}
		if sum <= 0 {
			slots[0] = 0
			continue
		}
		ratio := slots[AdaptiveSlot] / sum
		slots[0] *= ratio
		slots[AdaptiveSlot] *= ratio
		if normalizedSlot > 0 {
			slots[normalizedSlot] *= ratio
		}
	}
}
