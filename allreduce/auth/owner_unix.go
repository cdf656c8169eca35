// SPDX-License-Identifier: Apache-2.0

//go:build unix

package auth

import (
	"io/fs"
	"syscall"
)

// rootOwned reports whether the file is root's.
func rootOwned(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0
}
