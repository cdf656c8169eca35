// SPDX-License-Identifier: Apache-2.0

package mem

import "syscall"

// adviseHuge requests huge pages for b. A kernel without them refuses; the first accesses
// to the table are then slower.
func adviseHuge(b []byte) { _ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) }
