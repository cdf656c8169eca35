// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package launch

import "os"

// CanInherit: a child can be given no more descriptors than the usual three.
const CanInherit = false

// wake does nothing: this system stops no process.
func wake(*os.Process) {}
