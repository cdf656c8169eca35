// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"os"
	"syscall"
)

// passedOn are the signals that gvw supervise passes on.
var passedOn = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// stopSelf stops this process until somebody continues it.
var stopSelf = func() {
	// A process may always signal itself.
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
}
