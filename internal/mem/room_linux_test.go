// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"os"
	"path/filepath"
	"testing"
)

// The least of all limits counts, whichever version of control groups sets it
// and wherever on the way to the root.
func TestLeastMemoryLimit(t *testing.T) {
	const (
		unlimited = "Limit                     Soft Limit           Hard Limit           Units\nMax data size             unlimited            unlimited            bytes\nMax address space         unlimited            unlimited            bytes\n"
		meminfo   = "MemTotal:       24684100 kB\nMemAvailable:    4194304 kB\nSwapFree:        1048576 kB\n"
		status    = "Name:\tgvw\nVmSize:\t 1048576 kB\nVmData:\t  524288 kB\n"
	)
	for name, c := range map[string]struct {
		files map[string]string
		want  Room
	}{
		"nothing known": {nil, Room{}},
		"the machine":   {map[string]string{"proc/meminfo": meminfo, "proc/self/limits": unlimited, "proc/self/status": status}, Room{5 << 30, "the available memory of this machine", false}},
		"ulimit -v": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/status": status,
			"proc/self/limits": "Max address space         4294967296            unlimited            bytes\n",
		}, Room{3<<30 - spare, "ulimit -v of 4194304 KiB", true}},
		"ulimit -d, used up": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/status": status,
			"proc/self/limits": "Max data size             1000            unlimited            bytes\n",
		}, Room{0, "ulimit -d of 0 KiB", true}},
		"a group of version 2": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/user/job\n",
			"sys/fs/cgroup/memory.max":              "max\n",
			"sys/fs/cgroup/user/memory.max":         "2147483648\n",
			"sys/fs/cgroup/user/memory.current":     "1073741824\n",
			"sys/fs/cgroup/user/memory.stat":        "anon 5\ninactive_file 536870912\nactive_file 268435456\n",
			"sys/fs/cgroup/user/job/memory.max":     "max\n",
			"sys/fs/cgroup/user/job/memory.current": "7\n",
		}, Room{2<<30 - 256<<20, "the control group's memory.max of 2048 MiB", false}},
		"a container's root": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/../../seen/from/outside\n",
			"sys/fs/cgroup/memory.max": "1073741824\n",
		}, Room{1 << 30, "the control group's memory.max of 1024 MiB", false}},
		"a group of version 1": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu:/\n4:memory:/docker/x\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":          "9223372036854771712\n",
			"sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "1073741824\n",
			"sys/fs/cgroup/memory/docker/x/memory.usage_in_bytes": "104857600\n",
			"sys/fs/cgroup/memory/docker/x/memory.stat":           "inactive_file 1\ntotal_inactive_file 1048576\ntotal_active_file 0\n",
		}, Room{1<<30 - 99<<20, "the control group's memory.limit_in_bytes of 1024 MiB", false}},
		"of four processes": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/status": status,
			"proc/self/limits": "Max address space         4294967296            unlimited            bytes\n",
		}, Room{5 << 30 / 4, "the available memory of this machine", false}},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			file = filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, ok := LeastRoom(root, map[bool]int{true: 4}[name == "of four processes"]); got != c.want || ok != (c.want.Of != "") {
			t.Errorf("%s: %+v, %v; want %+v", name, got, ok, c.want)
		}
		own, ok := LeastOwnRoom(root)
		if ok && !own.own || c.want.own && own != c.want {
			t.Errorf("%s: %+v, %v by limits of the process; want %+v", name, own, ok, c.want)
		}
	}
	if got, ok := LeastRoom("/", 1); !ok || got.Bytes < 1<<20 {
		t.Errorf("here: %+v, %v", got, ok)
	}
}
