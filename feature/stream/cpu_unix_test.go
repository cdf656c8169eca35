// SPDX-License-Identifier: Apache-2.0

//go:build unix

package stream_test

import (
	"syscall"
	"testing"
)

// cpuSeconds returns the time that this process has spent on all cores.
func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
