// SPDX-License-Identifier: Apache-2.0

package mem

// Page is the size in bytes of a usual page.
const Page = 4096

// hugeFrom is the size in bytes from which huge pages are asked for: below it,
// the parts that do not fill a huge page weigh too much.
const hugeFrom = 4 << 20

// Huge asks the operating system for huge pages under s, which should not have
// been touched yet. It never fails: where there are none, the pages stay small.
func Huge(s []float32) {
	if 4*len(s) >= hugeFrom {
		adviseHuge(s)
	}
}
