// SPDX-License-Identifier: Apache-2.0

package train

import (
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/mem"
)

// smallTables is the size in bytes of the tables of all processes up to which they take less than the rest of a process.
// Where these do not fit a control group or the machine, gvw itself does not fit either, so they are only compared with the
// limits of the process. The others are in ten files, which would be an eighth of the system calls of a short process.
const smallTables = 16 << 20

// CheckRoom returns a UsageError if the tables of weights do not fit the memory of this machine
// or of its cgroup, when each of several processes takes the given number of bytes. Without
// the check the runtime would crash, or the kernel would kill a process later.
func CheckRoom(bytes uint64, processes int) error {
	var room mem.Room
	var known bool
	if bytes <= smallTables/uint64(max(processes, 1)) {
		room, known = mem.LeastOwnRoom("/")
	} else {
		room, known = mem.LeastRoom("/", processes)
	}
	if !known || bytes <= room.Bytes {
		return nil
	}
	if processes > 1 {
		return cli.Usagef("the tables of weights of each of %d processes take %s, but %s leaves %s to each: start fewer, or give a smaller -b or --mem",
			processes, cli.FormatBytes(bytes), room.Of, cli.FormatBytes(room.Bytes))
	}
	return cli.Usagef("the tables of weights take %s, but %s leaves %s: give a smaller -b or --mem, or raise the limit", cli.FormatBytes(bytes), room.Of, cli.FormatBytes(room.Bytes))
}
