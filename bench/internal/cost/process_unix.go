// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cost

import (
	"syscall"
	"time"
)

// ProcessTime returns the processor time of this process.
func ProcessTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
