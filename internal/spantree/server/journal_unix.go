// SPDX-License-Identifier: Apache-2.0

//go:build unix

package server

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks a file until the returned one is closed.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrJournalLocked
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// syncFolder makes a rename in a directory durable.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
