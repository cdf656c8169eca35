// SPDX-License-Identifier: Apache-2.0

package record

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// ThisMachine returns the first event of this process.
func ThisMachine(attempt uint64) *Machine {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	m := &Machine{Attempt: attempt, Host: host, OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.GOMAXPROCS(0), PID: os.Getpid()}
	// Elsewhere than on Linux there are no such files, and both are unknown.
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.CPU = field(string(b), "model name")
	}
	if b, err := os.ReadFile("/proc/meminfo"); err == nil {
		kb, _, _ := strings.Cut(field(string(b), "MemTotal"), " ")
		n, _ := strconv.ParseUint(kb, 10, 64) // 0: unknown
		m.Memory = n << 10
	}
	return m
}

// field returns the value of the first line NAME: VALUE; empty: there is none.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// ID returns the ID of the run of a job.
func ID(uniqueID uint64, runKey string) string {
	return strconv.FormatUint(uniqueID, 10) + "/" + runKey
}
