// SPDX-License-Identifier: Apache-2.0

//go:build unix

package launch

import (
	"os"
	"syscall"
)

// CanInherit: a child can be given more descriptors than the usual three.
const CanInherit = true

// wake lets a stopped process hear the signals that it was sent.
func wake(p *os.Process) { _ = p.Signal(syscall.SIGCONT) } // who has ended needs none
