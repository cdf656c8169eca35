// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"os/exec"
	"syscall"
	"time"
)

// cpuTime returns the user and kernel time of this process.
func cpuTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0 // a constant handle, which needs no closing
	}
	var created, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &created, &ended, &kernel, &user); err != nil {
		return 0 // cannot fail: the arguments are valid
	}
	ticks := func(t syscall.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(100 * (ticks(kernel) + ticks(user)))
}

// grouped makes the end of the command's context end the program.
func grouped(cmd *exec.Cmd) *exec.Cmd {
	cmd.WaitDelay = 5 * time.Second
	return cmd
}
