// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cluster

import (
	"errors"
	"os"
	"syscall"
)

func ofItsOwn() *syscall.SysProcAttr { return nil }

func signalPid(pid int, _ syscall.Signal) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return errors.Join(p.Kill(), p.Release())
}

// Other processes can be inspected only on Linux.
func running(int) bool           { return false }
func descendants(int) []int      { return nil }
func (c *Cluster) owns(int) bool { return false }
