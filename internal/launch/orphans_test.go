// SPDX-License-Identifier: Apache-2.0

//go:build unix

package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A launcher that is killed outright leaves nobody behind.
func TestNoOrphans(t *testing.T) {
	dir := t.TempDir()
	launcher := worker("launch " + dir)
	if err := launcher.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for i := range 3 {
		name := filepath.Join(dir, strconv.Itoa(i))
		wait(t, "worker "+strconv.Itoa(i)+" to start", func() bool {
			b, err := os.ReadFile(name)
			pid, perr := strconv.Atoi(string(b))
			if err == nil && perr == nil {
				pids = append(pids, pid)
			}
			return err == nil && perr == nil
		})
	}
	if err := launcher.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = launcher.Wait() // killed: it has no other way to end
	for _, pid := range pids {
		wait(t, "worker process "+strconv.Itoa(pid)+" to end", func() bool { return !running(pid) })
	}
}

// running reports whether a process lives; a zombie, which has ended but whose
// parent has not asked, does not.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(b), ") Z ")
}
