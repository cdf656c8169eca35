// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// untilExit waits for the end of a process and returns its time. The caller waits for the process as usual.
// exec.Cmd.Wait returns later where a process that it has left behind holds the output open. The time is zero
// if it cannot be found.
func untilExit(p *os.Process) time.Time {
	for {
		switch err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err {
		case nil:
			return time.Now()
		case unix.EINTR:
		default:
			return time.Time{}
		}
	}
}
