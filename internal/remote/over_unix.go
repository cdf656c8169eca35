// SPDX-License-Identifier: Apache-2.0

//go:build unix

package remote

import (
	"os"
	"os/signal"
	"syscall"
)

// OverSignal is the signal that a launcher sends to its tethers when the job has ended. SIGCONT would be
// ambiguous, because a shell sends it to all processes of a job that it continues.
var OverSignal os.Signal = syscall.SIGUSR1

// notifyOver delivers OverSignal.
func notifyOver(over chan<- os.Signal) { signal.Notify(over, OverSignal) }
