// SPDX-License-Identifier: Apache-2.0

//go:build unix

package tests

import "syscall"

// The signals that stop and continue a process.
const (
	sigStop = syscall.SIGSTOP
	sigCont = syscall.SIGCONT
)

// reaped returns the exit code of an adopted child, once it has ended.
func reaped(pid int) (code int, ended bool, err error) {
	var ws syscall.WaitStatus
	got, err := syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
	return ws.ExitStatus(), got == pid, err
}
