// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package statusline

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Keys makes a terminal deliver each key at once and without an echo. A read without a key returns
// io.EOF after a tenth of a second. Ctrl-C still sends a signal. restore undoes all this.
func Keys(f *os.File) (restore func() error, err error) {
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil {
		return nil, fmt.Errorf("cannot read single keys from %s: %w", f.Name(), err)
	}
	modes := *before
	modes.Lflag &^= unix.ICANON | unix.ECHO
	modes.Cc[unix.VMIN], modes.Cc[unix.VTIME] = 0, 1
	if err := unix.IoctlSetTermios(fd, setModes, &modes); err != nil {
		return nil, fmt.Errorf("cannot read single keys from %s: %w", f.Name(), err)
	}
	return func() error { return unix.IoctlSetTermios(fd, setModes, before) }, nil
}
