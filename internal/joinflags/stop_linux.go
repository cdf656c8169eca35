// SPDX-License-Identifier: Apache-2.0

package joinflags

import (
	"os"

	"golang.org/x/sys/unix"
)

// stopSelf stops this process until it is continued. The signal goes to the calling thread,
// which stops before the call returns. A signal to the process could go to another thread, and
// this one would run on for a while.
var stopSelf = func() {
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP) // the own thread exists
}
