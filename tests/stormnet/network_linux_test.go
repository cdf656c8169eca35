// SPDX-License-Identifier: Apache-2.0

package stormnet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const (
	gatewayIP   = "10.81.0.254"
	gatewayPort = "26543"
)

// hostIP returns the address of a host.
func hostIP(host int) string { return fmt.Sprintf("10.81.0.%d", host+1) }

// sh runs a shell command.
func sh(t *testing.T, format string, args ...any) {
	t.Helper()
	if err := shell(format, args...); err != nil {
		t.Fatal(err)
	}
}

func shell(format string, args ...any) error {
	line := fmt.Sprintf(format, args...)
	if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w %s", line, err, out)
	}
	return nil
}

// cluster is the simulated network and the disks of one job. The process has its own network,
// mount and process namespaces, so they end with the process.
type cluster struct {
	t   *testing.T
	dir string

	mu     sync.Mutex
	in     [hosts]map[int]string // rules of the packet filter by fault, for incoming packets
	out    [hosts]map[int]string
	frozen map[string]int // number of active faults that freeze a disk
	thawed bool           // disks can no longer be frozen
}

// gateway is the name of the server's disk, and everyone that of the shared one.
const (
	gateway  = "gw"
	everyone = "all"
)

// disk returns the mount point of a host's disk.
func (c *cluster) disk(name string) string { return filepath.Join(c.dir, "disk."+name) }

func hostName(host int) string { return fmt.Sprintf("h%d", host) }

// newCluster creates the hosts of a scenario. Disks that a fault freezes are separate file
// systems, since a tmpfs cannot be frozen.
func newCluster(t *testing.T, dir string, s Scenario) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: dir, frozen: map[string]int{}}
	sh(t, "mount -t tmpfs none /run && ip link set lo up && ip link add name bridge type bridge && "+
		"ip addr add %s/24 dev bridge && ip link set bridge up", gatewayIP)
	var lines []string
	for h := range hosts {
		c.in[h], c.out[h] = map[int]string{}, map[int]string{}
		lines = append(lines, fmt.Sprintf("ip netns add h%d && ip link add v%[1]d type veth peer name eth0 netns h%[1]d && ip link set v%[1]d master bridge up && "+
			"ip -n h%[1]d addr add %s/24 dev eth0 && ip -n h%[1]d link set eth0 up && ip -n h%[1]d link set lo up", h, hostIP(h)))
	}
	sh(t, "%s", strings.Join(lines, " && "))
	freezes := map[string]bool{}
	for _, f := range s.Faults {
		switch f.Kind {
		case Frozen:
			freezes[hostName(f.Host)] = true
		case Shared:
			freezes[everyone] = true
		case ServerDisk:
			freezes[gateway] = true
		}
	}
	names := []string{gateway, everyone}
	for h := range hosts {
		names = append(names, hostName(h))
	}
	for _, name := range names {
		at := c.disk(name)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if freezes[name] {
			sh(t, "truncate -s 24M %s.img && mkfs.ext4 -q %[1]s.img && mount -o loop %[1]s.img %[1]s", at)
		} else {
			sh(t, "mount -t tmpfs -o size=16m none %s", at)
		}
	}
	return c
}

// thaw makes every disk writable for the rest of the job: a process that waits for a frozen
// disk cannot be killed, and a fault that writes to it does not return.
func (c *cluster) thaw() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.thawed = true
	for name, n := range c.frozen {
		if n > 0 {
			_ = shell("fsfreeze -u %s", c.disk(name)) // it may be thawed
		}
	}
}

// freeze makes writes to a disk block, or stops that.
func (c *cluster) freeze(name string, on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.thawed {
		return
	}
	was := c.frozen[name] > 0
	if on {
		c.frozen[name]++
	} else {
		c.frozen[name]--
	}
	flag := "-u"
	if on {
		flag = "-f"
	}
	if is := c.frozen[name] > 0; is != was {
		if err := shell("fsfreeze %s %s", flag, c.disk(name)); err != nil {
			c.t.Error(err)
		}
	}
}

// filter installs the rules of a fault at a host, or removes them if both are empty.
func (c *cluster) filter(host, fault int, in, out string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in[host][fault], c.out[host][fault] = in, out
	join := func(rules map[int]string) string {
		var b strings.Builder
		for i := range 8 { // in the order of the faults
			if rules[i] != "" {
				b.WriteString(rules[i] + "\n")
			}
		}
		return b.String()
	}
	err := shell("ip netns exec h%d nft -f - <<'END'\nadd table inet f\ndelete table inet f\ntable inet f {\n"+
		"chain in { type filter hook input priority 0;\n%s}\nchain out { type filter hook output priority 0;\n%s}\n}\nEND",
		host, join(c.in[host]), join(c.out[host]))
	if err != nil {
		c.t.Error(err)
	}
}
