// SPDX-License-Identifier: Apache-2.0

//go:build unix

package hdfsio

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// planted reports whether name is a link that somebody else has put into a folder
// where all may write, such as /tmp: to follow it would be to write where that one
// wants. Systems that guard such links do so when a file is opened, which is not
// how a file gets its name here.
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
