// SPDX-License-Identifier: Apache-2.0

//go:build unix

package crash

import "syscall"

// forbidCores lowers the soft limit of core dumps. A process may always lower
// its limits; without success a crash costs only disk space.
func forbidCores() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit)
	}
}
