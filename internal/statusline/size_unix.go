// SPDX-License-Identifier: Apache-2.0

//go:build unix

package statusline

import (
	"os"

	"golang.org/x/sys/unix"
)

// size returns the columns and rows of a terminal; 0 if they are not known.
func size(f *os.File) (columns, rows int) {
	w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(w.Col), int(w.Row)
}
