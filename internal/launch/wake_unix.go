// SPDX-License-Identifier: Apache-2.0

//go:build unix

package launch

import (
	"os"
	"syscall"
)

// CanInherit is true: a child process can have more than the three standard descriptors.
const CanInherit = true

// wake continues a stopped process, so that it handles pending signals.
func wake(p *os.Process) { _ = p.Signal(syscall.SIGCONT) } // an error means that it has ended
