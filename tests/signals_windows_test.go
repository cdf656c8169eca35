// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"errors"
	"syscall"
)

// Windows has no signal that stops a process, so sending these fails.
const (
	sigStop = syscall.Signal(19)
	sigCont = syscall.Signal(18)
)

// reaped needs a system on which orphans can be adopted.
func reaped(int) (code int, ended bool, err error) {
	return 0, false, errors.New("Windows does not support adopting the children of a process that has ended")
}
