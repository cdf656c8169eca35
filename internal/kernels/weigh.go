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
//
// sums may be the last floats of dst. Weigh goes from the first weight to the last and reads
// a sum before it writes the weight. Of n weights, weight i ends at (i+1)*stride, which is
// at most n*(stride-1)+i+1, the place of the next sum.
func Weigh(dst, src, sums []float32, stride, normalizedSlot, scratchSlot int) {
	done := 0
	if stride == weightCell {
		done = weighFast(dst, src, sums, normalizedSlot, scratchSlot)
	}
	for i, sum := range sums[done:] {
		slots := dst[(done+i)*stride:][:stride]
		copy(slots, src[(done+i)*stride:])
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
