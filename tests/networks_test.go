// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/tests/harness"
)

// Jobs over a network that the tests break: each rank is in a network namespace, with an
// address of its own on a bridge, and the server is at the bridge. Links are made slow by tc's
// token bucket, packets are lost, and connections cut or reset by nft.

const (
	envNetwork  = "GVW_TEST_NETWORK" // 1: this process has a network of its own
	gatewayIP   = "10.80.0.254"
	gatewayPort = "26543"
	netHosts    = 5 // four ranks, and one more host
)

// hostIP returns the address of a host.
func hostIP(host int) string { return fmt.Sprintf("10.80.0.%d", host+1) }

// inNetwork runs the test again in a process with its own network namespace, and reports
// whether this is that process.
func inNetwork(t *testing.T) bool {
	t.Helper()
	if os.Getenv(envNetwork) == "1" {
		return true
	}
	t.Parallel() // the other process does the work
	flags := "-nm"
	if os.Geteuid() != 0 {
		flags = "-Urnm"
	}
	const probe = "mount -t tmpfs none /run && ip netns add probe && ip link add name probe type bridge && ip link set lo up && " +
		"tc qdisc add dev lo root tbf rate 1mbit burst 32kbit latency 100ms && nft add table inet probe && " +
		"nft 'add chain inet probe in { type filter hook input priority 0; }' && " +
		"nft add rule inet probe in numgen random mod 100 '<' 1 reject with tcp reset"
	if out, err := exec.Command("unshare", flags, "sh", "-c", probe).CombinedOutput(); err != nil {
		why := fmt.Sprintf("needs network namespaces (root), ip, tc and nft (apt-get install iproute2 nftables): %v %s", err, out)
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("REQUIRE_ALL=1, and this " + why)
		}
		t.Skip(why)
	}
	within, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(within, "unshare", flags, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), envNetwork+"=1", harness.EnvPrograms+"="+filepath.Dir(gvwBin))
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", took(string(out)))
	return false
}

// took returns the lines with the duration of each test, and those that compare it with a simulation.
func took(out string) string {
	other := func(l string) bool { return !strings.Contains(l, "--- ") && !strings.Contains(l, "simulated ") }
	return strings.Join(slices.DeleteFunc(strings.Split(out, "\n"), other), "\n")
}

// sh runs a shell command.
func sh(t *testing.T, line string) {
	t.Helper()
	if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", line, err, out)
	}
}

// makeNetwork creates the hosts.
func makeNetwork(t *testing.T) {
	t.Helper()
	makeHosts(t, netHosts)
}

// makeHosts creates n hosts.
func makeHosts(t *testing.T, n int) {
	t.Helper()
	sh(t, "mount -t tmpfs none /run && ip link set lo up && ip link add name bridge type bridge && "+
		"ip addr add "+gatewayIP+"/24 dev bridge && ip link set bridge up")
	for h := range n {
		sh(t, fmt.Sprintf("ip netns add h%d && ip link add v%[1]d type veth peer name eth0 netns h%[1]d && ip link set v%[1]d master bridge up && "+
			"ip -n h%[1]d addr add %s/24 dev eth0 && ip -n h%[1]d link set eth0 up && ip -n h%[1]d link set lo up", h, hostIP(h)))
	}
}

// rules sets the packet filter of a host: rules for incoming and outgoing packets. Empty: all
// packets pass.
func rules(t *testing.T, host int, in, out string) {
	t.Helper()
	sh(t, fmt.Sprintf("ip netns exec h%d nft -f - <<'END'\nadd table inet f\ndelete table inet f\ntable inet f {\n"+
		"chain in { type filter hook input priority 0;\n%s\n}\nchain out { type filter hook output priority 0;\n%s\n}\n}\nEND", host, in, out))
}

// cut disconnects a host from all others, or connects it again.
func cut(t *testing.T, host int, parted bool) {
	t.Helper()
	rule := ""
	if parted {
		rule = "drop"
	}
	rules(t, host, rule, rule)
}

// netJob is a job of four ranks, each on its host.
type netJob struct {
	t     *testing.T
	dir   string
	parts []string
	ranks []*process
	more  []string // options
	by    []string // command that starts a rank; empty: none
}

// newNetJob starts a server.
func newNetJob(t *testing.T, options string) *netJob {
	t.Helper()
	if options == "" {
		options = "--heartbeat 200ms --lost_after 4s --stall_timeout 8s"
	}
	j := &netJob{t: t, dir: t.TempDir(), ranks: make([]*process, 4), more: strings.Fields(options)}
	j.parts = shards(t, j.dir, writeFile(t, filepath.Join(j.dir, "s.vw"), recoveryData(t)), len(j.ranks))
	server := start(t, j.dir, serverBin, "--nondaemon", "--bind", gatewayIP, "--port", gatewayPort)
	waitFor(t, "the server to listen", func() bool { return dialable(gatewayIP + ":" + gatewayPort) })
	t.Cleanup(func() {
		_ = server.cmd.Process.Signal(os.Interrupt)
		server.wait()
		if t.Failed() {
			t.Logf("server's log:\n%s", tail(server.res.stderr, 40))
			for rank, p := range j.ranks {
				p.cancel()
				t.Logf("rank %d:\n%s", rank, tail(p.wait().stderr, 20))
			}
		}
	})
	return j
}

// attempt starts a rank on a host.
func (j *netJob) attempt(rank, host int, model string, more ...string) *process {
	j.t.Helper()
	return j.with("wait", rank, host, model, more...)
}

// supervised starts a rank that is started again when it dies.
func (j *netJob) supervised(rank int) *process {
	j.t.Helper()
	j.by = []string{gvwBin, "supervise", "--max_restarts", "20", "--"}
	return j.attempt(rank, rank, modelOf(rank))
}

// attemptToAbort starts a rank of a job that ends with a loss.
func (j *netJob) attemptToAbort(rank int) *process {
	j.t.Helper()
	return j.with("abort", rank, rank, modelOf(rank))
}

func (j *netJob) with(onLoss string, rank, host int, model string, more ...string) *process {
	j.t.Helper()
	// The last step is the longest, so that the job does not end before the fault on a busy machine.
	begin := []string{"netns", "exec", fmt.Sprintf("h%d", host), "env", "GVW_FAULT=work:1,delay:200ms,attempt:any;work:6,delay:5s,attempt:any"}
	args := append([]string{
		gvwBin, "-d", j.parts[rank], "-f", model, "--run_id", "one", "--run_dir", "-", "--bind", hostIP(host), "--span_server", gatewayIP,
		"--unique_id", "6", "--total", "4", "--node", fmt.Sprint(rank),
	}, strings.Fields("--loss_function logistic --hybrid 2:4 -b 12 --l2 1 --on_loss "+onLoss)...)
	if onLoss == "wait" {
		args = append(args, "--replace_timeout", "20s")
	}
	return start(j.t, j.dir, "ip", slices.Concat(begin, j.by, args, j.more, more)...)
}

// startAll starts all ranks, each on the host of its number.
func (j *netJob) startAll() *netJob {
	j.t.Helper()
	for rank := range j.ranks {
		j.ranks[rank] = j.attempt(rank, rank, fmt.Sprintf("model.%d", rank))
	}
	return j
}

// untilPass waits until all ranks have reported pass n.
func (j *netJob) untilPass(n uint32) {
	j.t.Helper()
	waitFor(j.t, fmt.Sprintf("all ranks to be in pass %d", n), func() bool {
		st, err := client.Status(j.t.Context(), nil, gatewayIP+":"+gatewayPort, nil)
		return err == nil && len(st.Jobs) == 1 && len(st.Jobs[0].Ranks) == len(j.ranks) &&
			!slices.ContainsFunc(st.Jobs[0].Ranks, func(r protocol.RankStatus) bool { return r.Pass < n })
	})
}

// until waits until the job has a state.
func (j *netJob) until(state string) {
	j.t.Helper()
	waitFor(j.t, "the job to be "+state, func() bool {
		st, err := client.Status(j.t.Context(), nil, gatewayIP+":"+gatewayPort, nil)
		return err == nil && len(st.Jobs) == 1 && st.Jobs[0].State == state
	})
}

// untilEpoch waits until the job is wired in the epoch or a later one.
func (j *netJob) untilEpoch(epoch string) {
	j.t.Helper()
	waitFor(j.t, "epoch "+epoch, func() bool {
		st, err := client.Status(j.t.Context(), nil, gatewayIP+":"+gatewayPort, nil)
		return err == nil && len(st.Jobs) == 1 && st.Jobs[0].State == "wired" && st.Jobs[0].Epoch >= epoch
	})
}

// end checks that all ranks succeed with the model of an undisturbed job; "": any model.
func (j *netJob) end(want string) string {
	j.t.Helper()
	for rank, p := range j.ranks {
		if r := p.wait(); r.code != 0 {
			j.t.Fatalf("rank %d: exit code %d\n%s", rank, r.code, tail(r.stderr, 10))
		}
	}
	got := string(sameModels(j.t, j.dir, len(j.ranks)))
	if want != "" && got != want {
		j.t.Error("the model is another one than that of an undisturbed job")
	}
	return got
}
