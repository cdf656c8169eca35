// SPDX-License-Identifier: Apache-2.0

//go:build unix

package transport

import (
	"math"
	"syscall"
)

// FileLimit returns the limit of file descriptors of this process; math.MaxInt if
// there is none.
func FileLimit() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil || uint64(l.Cur) > math.MaxInt32 {
		return math.MaxInt
	}
	return int(l.Cur)
}
