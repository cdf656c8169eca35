// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package launch

import "os"

// CanInherit is false: a child process can have only the three standard descriptors.
const CanInherit = false

// wake does nothing: this system cannot stop processes.
func wake(*os.Process) {}
