// SPDX-License-Identifier: Apache-2.0

//go:build unix

package search

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file until it is closed. On a file system without locks it does nothing.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return errLocked
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	}
	return err
}
