// SPDX-License-Identifier: Apache-2.0

package kernels

// The layout of the weights of vw's learner, for AccumulateWeightedAvg.
const (
	AdaptiveSlot = 1
	weightCell   = 4 // floats per weight
)

// Weigh sets dst to this rank's contribution to the average of the weights in src: the
// average is the sum of all ranks' contributions. sums has the sums over all ranks of the
// adaptive slots, one per weight. dst is src, or does not overlap it. See
// AccumulateWeightedAvg.
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
