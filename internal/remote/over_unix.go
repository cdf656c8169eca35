// SPDX-License-Identifier: Apache-2.0

//go:build unix

package remote

import (
	"os"
	"os/signal"
	"syscall"
)

// OverSignal is the signal by which a launcher tells its tethers that the job is over. It is not
// SIGCONT, which the shell sends to all processes of a job that it continues.
var OverSignal os.Signal = syscall.SIGUSR1

// notifyOver delivers OverSignal.
func notifyOver(over chan<- os.Signal) { signal.Notify(over, OverSignal) }
