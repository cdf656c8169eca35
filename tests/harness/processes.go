// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Process is the id of a process. Its methods return zero values if the process has ended or
// cannot be inspected.
type Process int

// Find returns the first process for which is returns true, in the order of /proc; 0: none.
func Find(is func(Process) bool) Process {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		panic("BUG: harness: " + err.Error())
	}
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && is(Process(pid)) {
			return Process(pid)
		}
	}
	return 0
}

func (p Process) file(name string) []byte {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(int(p)), name))
	if err != nil {
		return nil
	}
	return b
}

// Args returns its program and arguments.
func (p Process) Args() []string {
	return strings.Split(strings.TrimSuffix(string(p.file("cmdline")), "\x00"), "\x00")
}

// Says reports whether the process has these words among its arguments, in sequence.
func (p Process) Says(words ...string) bool {
	args := p.Args()
	for i := range len(args) - len(words) + 1 {
		if slices.Equal(args[i:i+len(words)], words) {
			return true
		}
	}
	return false
}

// Env returns a variable of its environment, as it was at its start. Values may hold newlines.
func (p Process) Env(name string) string {
	for v := range bytes.SplitSeq(p.file("environ"), []byte{0}) {
		if value, found := bytes.CutPrefix(v, []byte(name+"=")); found {
			return string(value)
		}
	}
	return ""
}

// Parent returns the id of the parent process.
func (p Process) Parent() int {
	stat := p.file("stat") // the name, in parentheses, may contain any character
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 2 {
		return 0
	}
	pid, err := strconv.Atoi(f[1])
	if err != nil {
		return 0
	}
	return pid
}
