// SPDX-License-Identifier: Apache-2.0

package joinflags

import (
	"os"

	"golang.org/x/sys/unix"
)

// stopSelf stops this process until somebody continues it. The signal goes to the
// calling thread, which is stopped before it returns: sent to the process, another
// thread could take it, and this one would go on for a while.
var stopSelf = func() {
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP) // one's own thread is always there
}
