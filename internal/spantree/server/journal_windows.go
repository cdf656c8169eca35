// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks a file until the returned one is closed.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if err != nil {
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			err = ErrJournalLocked
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// syncFolder does nothing: Windows has no such call.
func syncFolder(string) error { return nil }
