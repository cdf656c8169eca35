// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cost

import (
	"os"
	"syscall"
)

// resident returns the peak resident memory of a process, in MB.
func resident(p *os.ProcessState) float64 {
	return float64(p.SysUsage().(*syscall.Rusage).Maxrss) / 1000 // Linux reports KiB
}
