// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"errors"
	"syscall"
)

// There is nothing that stops a process, so to send these fails.
const (
	sigStop = syscall.Signal(19)
	sigCont = syscall.Signal(18)
)

// reaped is for systems where orphans can be adopted.
func reaped(int) (code int, ended bool, err error) {
	return 0, false, errors.New("Windows gives nobody the children of a process that has ended")
}
