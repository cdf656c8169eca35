// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"bufio"
	"os"
	"path"
	"strconv"
	"strings"
)

// OutOfMemory finds out whether the kernel kills processes for want of memory, from the counter of the control group of
// this process, or else of the machine. The zero value is not ready; [WatchMemory] makes one. It is not
// safe for concurrent use.
type OutOfMemory struct {
	files []string // the first one that can be read counts

	last  uint64
	known bool
}

// WatchMemory returns the watch of this process's control group.
func WatchMemory() *OutOfMemory { return watchMemory(counters(readGroups("/proc/self/cgroup"))) }

func watchMemory(files []string) *OutOfMemory {
	o := &OutOfMemory{files: files}
	o.last, o.known = o.count()
	return o
}

// Killed reports whether the kernel has killed a process for want of memory since the last call. It is called for a
// process that was ended by SIGKILL. known is false where the kernel does not count.
func (o *OutOfMemory) Killed() (killed, known bool) {
	if o == nil {
		return false, false
	}
	n, ok := o.count()
	killed, known = ok && n > o.last, ok && o.known
	o.last, o.known = n, ok
	return killed && known, known
}

// count returns the number of processes that were killed for want of memory.
func (o *OutOfMemory) count() (n uint64, known bool) {
	for _, name := range o.files {
		if n, known := oomKills(name); known {
			return n, true
		}
	}
	return 0, false
}

// readGroups returns the lines of /proc/self/cgroup.
func readGroups(name string) []string {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil // no Linux
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// counters returns the files that may count: of the control group, in either version, as a container and as its host see
// it, and of the machine.
func counters(groups []string) (files []string) {
	for _, line := range groups {
		f := strings.SplitN(line, ":", 3) // number, controllers, path
		switch {
		case len(f) < 3:
		case f[1] == "":
			files = append(files, path.Join("/sys/fs/cgroup", f[2], "memory.events"), "/sys/fs/cgroup/memory.events")
		case strings.Contains(","+f[1]+",", ",memory,"):
			files = append(files, path.Join("/sys/fs/cgroup/memory", f[2], "memory.oom_control"), "/sys/fs/cgroup/memory/memory.oom_control")
		}
	}
	return append(files, "/proc/vmstat")
}

// oomKills returns the value of the line "oom_kill N" of a file.
func oomKills(name string) (n uint64, known bool) {
	f, err := os.Open(name)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "oom_kill "); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
