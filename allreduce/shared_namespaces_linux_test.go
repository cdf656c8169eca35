// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/sampled"
)

const (
	envHostRank  = "ALLREDUCE_TEST_HOST_RANK" // rank total server
	envNamespace = "ALLREDUCE_TEST_NAMESPACE" // 1: this is a machine of our own
	bridgeIP     = "10.79.0.254"
)

// namespaceDeals are assignments of ranks to hosts.
var namespaceDeals = [][]int{
	{0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 1, 1}, {0, 0, 1, 1, 2, 2}, {0, 0, 1, 1}, {0, 1, 2, 0, 0},
}

var allSchedules = append([]schedule.Name{schedule.Auto}, schedule.Names...)

// namespaceSchedules are the schedules that jobs of a size run in turn: all, and in the short form
// a third of them, another third for each size.
func namespaceSchedules(t *testing.T, size int) []schedule.Name {
	t.Helper()
	return sampled.Short(t, allSchedules, size%3, 3)
}

// TestHostsInNamespaces: ranks are processes, dealt to 1, 2 and 3 hosts, each a network
// namespace with an address of its own. All schedules leave the bytes that the in-memory
// network leaves, and ranks of a host meet in shared memory where their sum allows it.
//
// The namespaces are on one machine and have one boot id. The ranks therefore distinguish hosts
// by their addresses.
func TestHostsInNamespaces(t *testing.T) {
	if os.Getenv(envNamespace) == "" {
		runInNamespace(t)
		return
	}
	for _, line := range []string{
		"mount -t tmpfs none /run", "ip link set lo up", "ip link add name bridge type bridge",
		"ip addr add " + bridgeIP + "/24 dev bridge", "ip link set bridge up",
	} {
		command(t, line)
	}
	for h := range 3 {
		for _, line := range []string{
			"ip netns add h%d", "ip link add v%d type veth peer name eth0 netns h%[1]d", "ip link set v%d master bridge up",
			"ip -n h%d addr add 10.79.0.%[1]d/24 dev eth0", "ip -n h%d link set eth0 up", "ip -n h%d link set lo up",
		} {
			command(t, fmt.Sprintf(strings.Replace(line, "10.79.0.%[1]d", "10.79.0."+fmt.Sprint(h+1), 1), h))
		}
	}
	for _, hosts := range sampled.Race(t, namespaceDeals, 1, 2) {
		t.Run(fmt.Sprint(hosts), func(t *testing.T) { dealNamespaces(t, hosts) })
	}
}

// runInNamespace runs the test again on a machine of its own.
func runInNamespace(t *testing.T) {
	flags := []string{"-nm"}
	if os.Geteuid() != 0 {
		flags = []string{"-Urnm"}
	}
	probe := append(slices.Clone(flags), "sh", "-c", "mount -t tmpfs none /run && ip netns add probe && ip link add name probe type bridge")
	if out, err := exec.Command("unshare", probe...).CombinedOutput(); err != nil {
		if os.Getenv("REQUIRE_ALL") != "" {
			t.Fatalf("no network namespaces here: %v\n%s", err, out)
		}
		t.Skipf("no network namespaces here (unshare and ip are needed): %v %s", err, out)
	}
	within, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if sampled.UnderRace {
		t.Log("left out: all but one of two deals")
	}
	flags = append(flags, os.Args[0], "-test.run=^TestHostsInNamespaces$", "-test.v")
	if testing.Short() {
		t.Log("sampled: a third of the schedules per size")
		flags = append(flags, "-test.short")
	}
	cmd := exec.CommandContext(within, "unshare", flags...)
	cmd.Env = append(os.Environ(), envNamespace+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestHostsInNamespaces")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func command(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", line, err, out)
	}
}

// dealNamespaces runs a rank per process, all schedules in turn, and compares what they report.
func dealNamespaces(t *testing.T, hosts []int) {
	size := len(hosts)
	server := startServer(t, transport.TCP, bridgeIP+":0")
	within, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	outs := make([][]byte, size)
	errs := make([]error, size)
	var ranks sync.WaitGroup
	for rank, host := range hosts {
		cmd := exec.CommandContext(within, "ip", "netns", "exec", fmt.Sprintf("h%d", host), os.Args[0], "-test.run=^TestHostRank$", fmt.Sprint("-test.short=", testing.Short()))
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d %s", envHostRank, rank, size, host, server))
		ranks.Go(func() { outs[rank], errs[rank] = cmd.CombinedOutput() })
	}
	want := make([]string, size)
	for _, name := range namespaceSchedules(t, size) {
		j, _ := newMemJob(t, size, Config{Schedule: name, Chunk: 16 << 10})
		j.each(func(rank int) error {
			return report(j.groups[rank], func(line string, v Vector, _ uint64) {
				shares := uint64(0)
				if sharesSum(hosts, rank, name, v) {
					shares = 1
				}
				want[rank] += fmt.Sprintf("%s shared %d\n", line, shares)
			})
		})
		j.close()
	}
	ranks.Wait()
	for rank, out := range outs {
		got, _, _ := strings.Cut(string(out), "PASS")
		if diff := cmp.Diff(strings.Split(want[rank], "\n"), strings.Split(got, "\n")); errs[rank] != nil || diff != "" {
			t.Errorf("rank %d: %v\n%s\n%s", rank, errs[rank], out, diff)
		}
	}
}

// TestHostRank is a rank in a process of its own.
func TestHostRank(t *testing.T) {
	var rank, size, host int
	var server string
	if _, err := fmt.Sscan(os.Getenv(envHostRank), &rank, &size, &host, &server); err != nil {
		return // nothing to test here: this is a process of TestHostsInNamespaces
	}
	for i, name := range namespaceSchedules(t, size) {
		g, err := Join(ctx, Config{
			Server: server, Job: Job{UniqueID: uint64(i + 1)}, Rank: rank, Total: size,
			Listen: fmt.Sprintf("10.79.0.%d:0", host+1), Schedule: name, Chunk: 16 << 10,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := report(g, func(line string, _ Vector, shared uint64) { fmt.Printf("%s shared %d\n", line, shared) }); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(g.Done(ctx), g.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// report sums vectors of several kinds and lengths, and says for each what came out and how
// many sums went through shared memory.
func report(g *Group, say func(line string, v Vector, shared uint64)) error {
	if err := g.Ready(ctx, Shard{}); err != nil {
		return err
	}
	for _, count := range []int{1, 1009, 70_001} {
		base := wild(count, count, g.Rank())
		f64, i64 := make([]float64, count), make([]int64, count)
		for i, x := range base {
			f64[i], i64[i] = float64(x)/3, int64(x)*1e9
		}
		for _, c := range []struct {
			v  Vector
			op Op
		}{{Vec(base), Sum}, {Vec(f64), Sum}, {Vec(i64), Sum}, {Vec(f64), Max}} {
			before := sharedCalls(g)
			if err := g.AllReduce(ctx, c.v, c.op); err != nil {
				return err
			}
			say(fmt.Sprintf("%v: %v of %d %v: %x", g.cfg.Schedule, c.op, count, c.v.kind, sha256.Sum256(c.v.bytes())), c.v, sharedCalls(g)-before)
		}
	}
	return nil
}
