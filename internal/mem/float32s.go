// SPDX-License-Identifier: Apache-2.0

package mem

// hugeFrom is the size in bytes from which huge pages are asked for: below it,
// the parts that do not fill a huge page weigh too much.
const hugeFrom = 4 << 20

// Float32s returns n zeros.
func Float32s(n int) []float32 {
	s := make([]float32, n)
	if 4*n >= hugeFrom {
		adviseHuge(s)
	}
	return s
}
