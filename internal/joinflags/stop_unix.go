// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package joinflags

import (
	"os"
	"syscall"
)

// stopSelf stops this process until it is continued.
var stopSelf = func() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // a process may always signal itself
}
