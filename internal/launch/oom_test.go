// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCountersOfControlGroups(t *testing.T) {
	for name, c := range map[string]struct{ groups, want []string }{
		"version 2": {[]string{"0::/user.slice/job"}, []string{"/sys/fs/cgroup/user.slice/job/memory.events", "/sys/fs/cgroup/memory.events", "/proc/vmstat"}},
		"version 1": {[]string{"8:pids:/", "4:memory:/box/7", "0::"}, []string{"/sys/fs/cgroup/memory/box/7/memory.oom_control", "/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory.events", "/proc/vmstat"}},
		"none":      {nil, []string{"/proc/vmstat"}},
	} {
		if got := counters(c.groups); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// The counter rises when the kernel kills a process, and each rise counts once.
func TestKilledForWantOfMemory(t *testing.T) {
	name := filepath.Join(t.TempDir(), "memory.events")
	set := func(text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set("low 0\noom 4\noom_kill 2\n")
	o := watchMemory([]string{name + ".missing", name})
	check := func(killed, known bool) {
		t.Helper()
		if k, n := o.Killed(); k != killed || n != known {
			t.Errorf("got %v, %v, want %v, %v", k, n, killed, known)
		}
	}
	check(false, true)
	set("oom_kill 3\n")
	check(true, true)
	check(false, true)
	set("no counter\n")
	check(false, false)
	set("oom_kill 9\n")
	check(false, false) // it is not known when it rose
	check(false, true)
	if killed, known := (*OutOfMemory)(nil).Killed(); killed || known {
		t.Error("no watch knows something")
	}
}
