// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// twoHosts runs a shell script on a simulated host whose interfaces have the addresses
// 10.77.0.1 and 10.78.0.1. "on2 COMMAND" runs a command on a second host with 10.77.0.2 and
// 10.78.0.2; packets to the latter are dropped. Both hosts are network namespaces.
func twoHosts(t *testing.T, script string) result {
	t.Helper()
	ns := []string{"-nm"}
	if os.Geteuid() != 0 {
		ns = []string{"-Urnm"}
	}
	try := append(append([]string{}, ns...), "sh", "-c", "mount -t tmpfs none /run && ip netns add probe")
	if out, err := exec.Command("unshare", try...).CombinedOutput(); err != nil {
		if os.Getenv("REQUIRE_ALL") != "" {
			t.Fatalf("no network namespaces here: %v\n%s", err, out)
		}
		t.Skipf("no network namespaces here (unshare and ip are needed): %v %s", err, out)
	}
	head := `set -e
mount -t tmpfs none /run
ip link set lo up
ip netns add two
for net in 77 78; do
  ip link add a$net type veth peer name b$net
  ip link set b$net netns two
  ip addr add 10.$net.0.1/24 dev a$net
  ip link set a$net up
  ip netns exec two ip addr add 10.$net.0.2/24 dev b$net
  ip netns exec two ip link set b$net up
done
ip netns exec two ip link set lo up
ip route add blackhole 10.78.0.2/32
on2() { ip netns exec two "$@"; }
gvw=` + gvwBin + `
`
	args := append(ns, "bash", "-c", head+script)
	return run(t, t.TempDir(), "unshare", args...)
}

// sums starts two ranks of gvw allreduce, one per host, with more options for the rank on the
// second host, and returns the output of both.
func sums(t *testing.T, options string) result {
	return twoHosts(t, serverBin+` --nondaemon --bind 10.77.0.1 >server.log 2>&1 & server=$!
trap 'kill $server' EXIT
set +e
until grep -qs serving server.log; do sleep 0.05; done
echo 40 | $gvw allreduce --op sum --type i64 --span_server 10.77.0.1 --unique_id 1 --start_timeout 5s --total 2 --node 0 >out0 2>err0 & first=$!
echo 2 | on2 $gvw allreduce --op sum --type i64 --span_server 10.77.0.1 --unique_id 1 --start_timeout 5s --total 2 --node 1 `+options+` >out1 2>err1
echo "code $?"
wait $first
cat out0 out1
cat err0 err1 >&2`)
}

// TestANetworkChoosesTheAddress: of two interfaces, the one in the given network is bound and
// advertised, with a port of the range.
func TestANetworkChoosesTheAddress(t *testing.T) {
	t.Parallel()
	for _, options := range []string{
		"--bind 10.77.0.0/16 --port_range 26544-26545",
		"--advertise 10.77.0.0/16",
		"--advertise 10.77.0.2 --port_range 26600",
	} {
		t.Run(options, func(t *testing.T) {
			if r := sums(t, options); r.stdout != "code 0\n42\n42\n" || r.stderr != "" {
				t.Errorf("got %q\n%s", r.stdout, r.stderr)
			}
		})
	}
}

// TestAWrongInterfaceIsNamed: a rank that advertises an address of its loopback ends the
// wiring. Both ranks report whose address is wrong and which one is better.
func TestAWrongInterfaceIsNamed(t *testing.T) {
	t.Parallel()
	for _, options := range []string{"--advertise 127.0.0.1", "--bind 127.0.0.0/8"} {
		t.Run(options, func(t *testing.T) {
			r := sums(t, options)
			for _, want := range []string{"rank 1 advertises 127.0.0.1:", "which each machine resolves to itself", "the server observes it at 10.77.0.2, and rank 0 at 10.77.0.1", "advertise 10.77.0.2"} {
				if strings.Count(r.stderr, want) < 2 || strings.Contains(r.stdout, "code 0") {
					t.Errorf("want %q from both, got %q\n%s", want, r.stdout, r.stderr)
				}
			}
		})
	}
}

// TestAddressesThatAreNotThere: a network in which the machine has no address, and a range of
// ports that are all in use.
func TestAddressesThatAreNotThere(t *testing.T) {
	t.Parallel()
	r := sums(t, "--bind 192.168.0.0/16")
	if !strings.Contains(r.stderr, "no address of this machine is in 192.168.0.0/16: it has 127.0.0.1 (lo)") {
		t.Errorf("got %s", r.stderr)
	}
	r = sums(t, "--bind 10.77.0.1 --port_range 26544-26547")
	if !strings.Contains(r.stderr, "none of the 4 ports 26544-26547 is free") {
		t.Errorf("got %s", r.stderr)
	}
}
