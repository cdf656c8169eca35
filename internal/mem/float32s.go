// SPDX-License-Identifier: Apache-2.0

package mem

// Page is the size in bytes of a usual page.
const Page = 4096

// hugeFrom is the least size in bytes for huge pages: in smaller tables the parts that do not
// fill a huge page waste too much.
const hugeFrom = 4 << 20

// Huge requests huge pages for s, which should not have
// been accessed yet. It never fails: without huge pages, the pages stay small.
func Huge(s []float32) {
	if 4*len(s) >= hugeFrom {
		adviseHuge(s)
	}
}
