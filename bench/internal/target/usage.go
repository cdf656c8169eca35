// SPDX-License-Identifier: Apache-2.0

//go:build linux

package target

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Usage is what a server has used.
type Usage struct {
	CPU      time.Duration // user and system time, in ticks of 10 ms
	Resident uint64        // bytes
}

// Usage returns what the processes of a server have used.
func (s *Server) Usage() (Usage, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return Usage{}, err
	}
	var sum Usage
	found := false
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		u, group, err := parseStat(string(b))
		if err != nil {
			return Usage{}, fmt.Errorf("%s: %w", file, err)
		}
		if group == s.command.Process.Pid {
			found = true
			sum.CPU += u.CPU
			sum.Resident += u.Resident
		}
	}
	if !found {
		return Usage{}, fmt.Errorf("%s has ended", s.Name)
	}
	return sum, nil
}

// tick is the unit of CPU times in /proc, on all systems that Go supports.
const tick = 10 * time.Millisecond

// parseStat parses /proc/PID/stat, whose fields proc(5) numbers from 1.
func parseStat(text string) (u Usage, group int, err error) {
	_, rest, ok := strings.Cut(text[strings.LastIndexByte(text, ')')+1:], " ") // the name may have spaces
	f := strings.Fields(rest)
	if !ok || len(f) < 22 {
		return u, 0, fmt.Errorf("%d fields after the name, want 22 or more", len(f))
	}
	field := func(n int) (v int) {
		var e error
		if v, e = strconv.Atoi(f[n-3]); e != nil && err == nil {
			err = fmt.Errorf("field %d: %w", n, e)
		}
		return v
	}
	group = field(5)
	u.CPU = time.Duration(field(14)+field(15)) * tick
	u.Resident = uint64(field(24)) * uint64(os.Getpagesize())
	return u, group, err
}
