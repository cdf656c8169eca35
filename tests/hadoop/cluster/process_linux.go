// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ofItsOwn puts a daemon into its own process group, so that it does not get a terminal's
// signals, and ends it with a test that is killed or exceeds its time limit.
func ofItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

func signalPid(pid int, sig syscall.Signal) error { return syscall.Kill(pid, sig) }

// running reports whether a process exists and is not a zombie.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

// descendants returns the children of a process and their descendants.
func descendants(pid int) (all []int) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for word := range strings.FieldsSeq(string(text)) {
			if kid, err := strconv.Atoi(word); err == nil {
				all = append(append(all, kid), descendants(kid)...)
			}
		}
	}
	return all
}

// owns reports whether a process belongs to the cluster: its command line or its
// environment names the folder.
func (c *Cluster) owns(pid int) bool {
	for _, file := range []string{"cmdline", "environ"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
		if err == nil && bytes.Contains(text, []byte(c.cfg.Dir+"/")) {
			return true
		}
	}
	return false
}
