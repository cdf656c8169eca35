// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package launch

import "os"

// wake does nothing: this system stops no process.
func wake(*os.Process) {}
