// SPDX-License-Identifier: Apache-2.0

package crash

import "runtime/debug"

// Abort makes each later crash of the Go runtime end this process by SIGABRT.
// Without keepCores it sets the soft limit of core dumps to 0: a core would be
// as large as the tables of weights. Children inherit that limit, so a launcher
// keeps it.
func Abort(keepCores bool) {
	debug.SetTraceback("crash")
	if !keepCores {
		forbidCores()
	}
}
