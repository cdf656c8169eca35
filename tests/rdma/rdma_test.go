// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/harness"
	"github.com/gvw-project/gvw/tests/rdma/guest"
)

// need skips a test that cannot run here; with REQUIRE_ALL=1 it fails it.
func need(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if !errors.Is(err, guest.ErrMissing) || os.Getenv("REQUIRE_ALL") == "1" {
		t.Fatal(err)
	}
	t.Skip(err)
}

// machine returns a guest with gvw, built with the tag rdma, in /t.
func machine(t *testing.T) (m *guest.Machine, dir string) {
	t.Helper()
	if os.Getenv("GVW_RDMA_GUEST") != "" {
		t.Skip("this is the guest")
	}
	if testing.Short() {
		t.Skip("sampled: takes minutes")
	}
	k, err := guest.Prepare(t.Context(), os.Getenv("GVW_RDMA_CACHE"), install, t.Logf)
	need(t, err)
	if _, err := os.Stat("/usr/include/infiniband/verbs.h"); err != nil {
		need(t, fmt.Errorf("%w: no libibverbs-dev here: %w", guest.ErrMissing, err))
	}
	dir = t.TempDir()
	build(t, "build", "-tags", "rdma", "-o", dir, "../../cmd/gvw", "../../cmd/spanning_tree")
	m = &guest.Machine{Kernel: k, Memory: 1536}
	m.Add(filepath.Join(dir, "gvw"), "t/gvw")
	return m, dir
}

func build(t *testing.T, args ...string) {
	t.Helper()
	if err := harness.Go(t.Context(), []string{"CGO_ENABLED=1"}, args...); err != nil {
		t.Fatal(err)
	}
}

// tests defines the shell function that runs the guest's tests of a package.
const tests = `rc=0
tests() {
	package=$1
	shift
	"/t/$package.test" -test.v -test.timeout 800s "$@"
}
`

// testsInGuest runs the tests that remove the devices first, with nothing beside them. The other tests wait for much of
// their time, so they run in two sequences at once. The output of the one in the background follows at the end.
const testsInGuest = tests + `
tests verbs -test.run '^TestGuest' || rc=1
tests allreduce -test.run '^TestGuestVanished$' || rc=1
{
	code=0
	tests rdma -test.run '^TestGuest' || code=1
	tests maltstorm -test.run '^TestGuest' || code=1
	echo $code >background.code
} >background.log 2>&1 &
tests allreduce -test.run '^TestGuest' -test.skip '^TestGuestVanished$' || rc=1
tests malt -test.run '^TestGuest' || rc=1
wait
cat background.log
[ "$(cat background.code)" = 0 ] || rc=1
`

// testsInTurn runs the tests that GVW_RDMA_RUN selects.
const testsInTurn = tests + `
for package in verbs rdma allreduce malt maltstorm; do
	tests $package -test.run "$GVW_RDMA_RUN" || rc=1
done
`

// TestInGuest runs the guest's tests. GVW_RDMA_RUN selects some of them, which then run one after the other.
func TestInGuest(t *testing.T) {
	m, dir := machine(t)
	for name, pkg := range map[string]string{"verbs": "../../allreduce/verbs", "allreduce": "../../allreduce", "malt": "../../malt", "maltstorm": "../maltstorm", "rdma": "."} {
		test := filepath.Join(dir, name+".test")
		build(t, "test", "-c", "-tags", "rdma", "-o", test, pkg)
		m.Add(test, "t/"+name+".test")
	}
	which := os.Getenv("GVW_RDMA_RUN")
	command := testsInGuest
	if which != "" {
		command = testsInTurn
	}
	examples, err := harness.Data{Root: "../..", Sets: os.Getenv("GVW_SHARED")}.Real(1000)
	if err != nil {
		t.Fatal(err)
	}
	m.Write("t/train.vw", examples)
	if count := runInGuest(t, m, "export GVW_RDMA_RUN='"+which+"'\n"+command, 14*time.Minute); count < 15 && which == "" {
		t.Errorf("%d tests have run in the guest", count)
	}
}

// runInGuest runs a command whose exit code is in rc, reports the tests of its output as tests here, and returns their
// number.
func runInGuest(t *testing.T, m *guest.Machine, command string, limit time.Duration) (count int) {
	t.Helper()
	// The number of retransmissions distinguishes a slow run from a wrong one.
	command += "grep . /sys/class/infiniband/rxe?/ports/1/hw_counters/*\nexit $rc\n"
	within, cancel := context.WithTimeoutCause(t.Context(), limit, fmt.Errorf("it has taken %v", limit))
	defer cancel()
	out, in := io.Pipe()
	var code int
	var err error
	go func() {
		code, err = m.Run(within, command, in)
		in.Close()
	}()
	count = relay(t, out)
	need(t, err)
	if code != 0 {
		t.Errorf("the guest's tests end with %d", code)
	}
	return count
}

// outcome matches the line with which a test in the guest reports its result.
var outcome = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+) `)

// relay reports each test that has run in the guest as a test here.
func relay(t *testing.T, r io.Reader) (count int) {
	t.Helper()
	var said []string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		said = append(said, line)
		t.Log(line)
		m := outcome.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if m[1] == "SKIP" {
			continue // a part of another test
		}
		count++
		t.Run(m[2], func(t *testing.T) {
			if m[1] == "FAIL" {
				t.Errorf("in the guest:\n%s", strings.Join(said[max(0, len(said)-15):], "\n"))
			}
		})
	}
	return count
}

// install installs Debian packages if the user has agreed to it (scripts/install.sh).
func install(packages []string) error {
	cmd := exec.Command("../../scripts/install.sh", append([]string{"the guest with RDMA devices"}, packages...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}
