// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

package kernels

// weighFours is weigh for n weights of four slots, n a multiple of four, with the same bits.
// masks select the slots that are multiplied by the ratio, those that are not the weight, and
// those that stay, for two weights each. past writes dst with non-temporal stores, if it is
// aligned to 32 bytes.
//
//go:noescape
func weighFours(dst, src, sums *float32, n int, masks *[3][8]uint32, past bool)

// weighFast processes as many weights as the kernels can, and returns their number.
func weighFast(dst, src, sums []float32, normalizedSlot, scratchSlot int) int {
	n := len(sums) &^ 3
	if !hasFold || n == 0 {
		return 0
	}
	masks := [3][8]uint32{}
	for i := range masks[0] {
		slot := i % weightCell
		if slot == 0 || slot == AdaptiveSlot || slot == normalizedSlot {
			masks[0][i] = ^uint32(0)
		}
		if slot != 0 {
			masks[1][i] = ^uint32(0)
		}
		if slot == 0 || slot != scratchSlot {
			masks[2][i] = ^uint32(0)
		}
	}
	weighFours(&dst[0], &src[0], &sums[0], n, &masks, &dst[0] != &src[0])
	return n
}
