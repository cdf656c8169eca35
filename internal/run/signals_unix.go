// SPDX-License-Identifier: Apache-2.0

//go:build unix

package run

import (
	"os"
	"syscall"
)

// passedOn are the signals that gvw supervise passes on.
var passedOn = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}
