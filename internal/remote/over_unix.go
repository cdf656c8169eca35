// SPDX-License-Identifier: Apache-2.0

//go:build unix

package remote

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyOver delivers the signal by which a launcher wakes the processes that have nothing left to do.
func notifyOver(over chan<- os.Signal) { signal.Notify(over, syscall.SIGCONT) }
