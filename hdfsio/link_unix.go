// SPDX-License-Identifier: Apache-2.0

//go:build unix

package hdfsio

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// planted reports whether name is a symbolic link that another user has made in a
// world-writable directory such as /tmp: following it would write where that user wants.
// The kernel's protection of such links applies to opening a file, not to renaming
// to the link's target as Commit does.
func planted(name string) bool {
	link, err := os.Lstat(name)
	if err != nil || link.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	folder, err := os.Stat(filepath.Dir(name))
	if err != nil || folder.Mode()&fs.ModeSticky == 0 || folder.Mode().Perm()&0o002 == 0 {
		return false
	}
	l, ok := link.Sys().(*syscall.Stat_t)
	f, also := folder.Sys().(*syscall.Stat_t)
	return ok && also && int(l.Uid) != os.Geteuid() && l.Uid != f.Uid
}
