// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// spare is the address space that the Go runtime takes beside large tables: it
// reserves 64 MiB at a time.
const spare = 128 << 20

// LeastRoom returns the least memory that a limit leaves to each of several processes
// like this one. The limits are ulimit -v and -d, the control groups, and the machine's
// available memory. ok is false if none is known. root is the directory of proc and sys, "/"
// except in tests.
func LeastRoom(root string, processes int) (least Room, ok bool) {
	s := system{root}
	return leastOf(slices.Concat(s.limits(), s.groups(), s.machine()), processes)
}

// LeastOwnRoom is LeastRoom with the limits of the process only, ulimit -v and -d. It reads fewer files.
func LeastOwnRoom(root string) (least Room, ok bool) { return leastOf(system{root}.limits(), 1) }

// leastOf returns the least of the rooms, where several processes share those that are not a process's own.
func leastOf(rooms []Room, processes int) (least Room, ok bool) {
	for _, r := range rooms {
		if !r.own {
			r.Bytes /= uint64(max(processes, 1))
		}
		if !ok || r.Bytes < least.Bytes {
			least, ok = r, true
		}
	}
	return least, ok
}

// system reads the files of the kernel.
type system struct{ root string }

func (s system) read(name string) []byte {
	b, _ := os.ReadFile(filepath.Join(s.root, name)) // an unreadable file is no limit
	return b
}

// limits returns the room within the limits of this process. Both count memory as it is allocated.
func (s system) limits() (rooms []Room) {
	limits := s.read("proc/self/limits")
	var status []byte // read if there is a limit
	for _, l := range []struct{ name, used, of string }{
		{"Max address space", "VmSize:", "ulimit -v"},
		{"Max data size", "VmData:", "ulimit -d"},
	} {
		for line := range bytes.Lines(limits) {
			rest, found := strings.CutPrefix(string(line), l.name)
			f := strings.Fields(rest)
			if !found || len(f) == 0 {
				continue
			}
			limit, err := strconv.ParseUint(f[0], 10, 64) // "unlimited" is none
			if err != nil {
				continue
			}
			if status == nil {
				status = s.read("proc/self/status")
			}
			rooms = append(rooms, Room{less(limit, kilobytes(status, l.used)+spare), fmt.Sprintf("%s of %d KiB", l.of, limit>>10), true})
		}
	}
	return rooms
}

// groups returns the room within the control groups of this process, up to the root. A container
// sees its own group as the root.
func (s system) groups() (rooms []Room) {
	for line := range bytes.Lines(s.read("proc/self/cgroup")) {
		f := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		if len(f) < 3 {
			continue
		}
		g := group{s, "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file", "active_file"}
		switch {
		case f[0] == "0" && f[1] == "": // version 2
		case f[1] == "memory":
			g = group{s, "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", "total_active_file"}
		default:
			continue
		}
		for at := path.Clean("/" + f[2]); ; at = path.Dir(at) {
			if r, ok := g.room(at); ok {
				rooms = append(rooms, r)
			}
			if at == "/" {
				break
			}
		}
	}
	return rooms
}

// group has the file names of a version of control groups.
type group struct {
	system
	mount, limit, usage string
	inactive, active    string // fields of memory.stat: file pages, which the kernel reclaims
}

func (g group) room(at string) (Room, bool) {
	dir := path.Join(g.mount, at)
	limit, ok := number(g.read(path.Join(dir, g.limit)))
	if !ok || limit > math.MaxInt64-1<<20 { // version 1 has a huge number for none
		return Room{}, false
	}
	used, _ := number(g.read(path.Join(dir, g.usage)))
	stat := g.read(path.Join(dir, "memory.stat"))
	used = less(used, field(stat, g.inactive)+field(stat, g.active))
	return Room{less(limit, used), fmt.Sprintf("the control group's %s of %d MiB", g.limit, limit>>20), false}, true
}

// machine returns the memory that the kernel reports as available, including swap.
func (s system) machine() []Room {
	info := s.read("proc/meminfo")
	if available := kilobytes(info, "MemAvailable:"); available > 0 {
		return []Room{{available + kilobytes(info, "SwapFree:"), "the available memory of this machine", false}}
	}
	return nil
}

// kilobytes returns the value of a line "NAME 17 kB" in bytes; 0: no such line.
func kilobytes(b []byte, name string) uint64 { return field(b, name) << 10 }

// field returns the number after a name at the beginning of a line; 0: no such line.
func field(b []byte, name string) uint64 {
	for line := range bytes.Lines(b) {
		if f := strings.Fields(string(line)); len(f) > 1 && f[0] == name {
			n, _ := strconv.ParseUint(f[1], 10, 53)
			return n
		}
	}
	return 0
}

// number parses a file with one number; "max" means no limit.
func number(b []byte) (uint64, bool) {
	n, err := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 64)
	return n, err == nil
}

func less(a, b uint64) uint64 { return a - min(a, b) }
