// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"os"
	"syscall"
)

// stopSelf stops this process until somebody continues it.
var stopSelf = func() {
	// A process may always signal itself.
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
}
