// SPDX-License-Identifier: Apache-2.0

package stormnet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/harness"
)

// envJob holds the order of a process that runs one job in its own namespaces.
const envJob = "STORMNET_JOB"

// order is the input of such a process, in JSON.
type order struct {
	Scenario            Scenario
	Programs, Data, Dir string
	Length              time.Duration
}

// TestScan acts as a port scanner that opens connections to a host, in its own process.
func TestScan(t *testing.T) {
	host := os.Getenv(envScan)
	if host == "" {
		return // it does nothing in a run of all tests
	}
	connect(t.Context(), host)
}

// TestJob runs one job, in a process of its own.
func TestJob(t *testing.T) {
	text := os.Getenv(envJob)
	if text == "" {
		return // it does nothing in a run of all tests
	}
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	out := run(t, o.Dir, o.Programs, o.Data, o.Scenario, o.Length)
	b, err := json.Marshal(out)
	if err == nil {
		err = os.WriteFile(filepath.Join(o.Dir, "outcome.json"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// needs skips the test on a system without namespaces, a packet filter or disks that can be
// frozen.
func needs(t *testing.T) {
	t.Helper()
	why := ""
	if os.Geteuid() != 0 {
		why = "needs root"
	}
	for _, name := range []string{"unshare", "ip", "nft", "mkfs.ext4", "fsfreeze", "losetup"} {
		if _, err := exec.LookPath(name); err != nil {
			why = "needs " + name + " (apt-get install iproute2 nftables e2fsprogs util-linux mount)"
		}
	}
	if why == "" {
		const probe = "mount -t tmpfs none /run && ip link add name probe type bridge && losetup --find"
		if out, err := exec.Command("unshare", "-nm", "sh", "-c", probe).CombinedOutput(); err != nil {
			why = fmt.Sprintf("needs namespaces and loop devices: %v %s", err, out)
		}
	}
	if why == "" {
		return
	}
	if os.Getenv("REQUIRE_ALL") == "1" {
		t.Fatal("REQUIRE_ALL=1, and this " + why)
	}
	t.Skip(why)
}

// within runs a job in its own namespaces and returns its outcome.
func within(t *testing.T, o order) (Outcome, error) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		return Outcome{}, err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "-nm", "--pid", "--fork", "--kill-child", "--mount-proc",
		os.Args[0], "-test.run=^TestJob$", "-test.v")
	cmd.Env = append(os.Environ(), envJob+"="+string(text))
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestJob")) {
		return Outcome{}, fmt.Errorf("%w\n%s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(o.Dir, "outcome.json"))
	if err != nil {
		return Outcome{}, err
	}
	var outcome Outcome
	return outcome, json.Unmarshal(b, &outcome)
}

// number reads a variable of the environment.
func number(t *testing.T, name string, def int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return def
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%s is no number", name, text)
	}
	return n
}

// prepare builds the programs and writes the parts of the data.
func prepare(t *testing.T) order {
	t.Helper()
	programs, err := harness.Programs(t.Context(), os.Getenv(harness.EnvPrograms), t.TempDir(), "gvw", "spanning_tree")
	if err != nil {
		t.Fatal(err)
	}
	o := order{Programs: programs, Data: t.TempDir()}
	examples, err := harness.Data{Root: "../..", Sets: os.Getenv("GVW_SHARED")}.Real(400)
	if err != nil {
		t.Fatal(err)
	}
	var parts [ranks]bytes.Buffer
	i := 0
	for line := range bytes.Lines(examples) {
		parts[i%ranks].Write(line)
		i++
	}
	for rank := range ranks {
		if err := os.WriteFile(filepath.Join(o.Data, "part."+itoa(rank)), parts[rank].Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// TestStorm runs jobs of drawn scenarios, several at a time.
func TestStorm(t *testing.T) {
	needs(t)
	base := prepare(t)
	whole := base
	whole.Dir, whole.Length = t.TempDir(), time.Minute
	calm, err := within(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	want := calm.Attempts[0].Model
	if !calm.finished() || calm.wrong(want) != "" {
		t.Fatalf("an undisturbed job: %s\n%+v\n%s", calm.wrong(want), calm, logs(t, whole.Dir))
	}
	base.Length = time.Duration(calm.Seconds * float64(time.Second))

	count, seed, only := number(t, "STORM", jobs), number(t, "STORM_SEED", 1), number(t, "STORM_ONLY", 0)
	list := make(chan uint64)
	var mu sync.Mutex
	var all []Outcome
	var workers sync.WaitGroup
	for range number(t, "STORM_PARALLEL", runtime.NumCPU()) {
		workers.Go(func() {
			for n := range list {
				o := base
				o.Scenario = draw(uint64(seed), n, base.Length)
				o.Dir = filepath.Join(t.TempDir(), strconv.FormatUint(n, 10))
				if err := os.Mkdir(o.Dir, 0o755); err != nil {
					t.Error(err)
					continue
				}
				out, err := within(t, o)
				if err != nil {
					t.Errorf("job %d: %v: %v", n, o.Scenario, err)
					continue
				}
				if w := out.wrong(want); w != "" {
					t.Errorf("STORM_SEED=%d STORM_ONLY=%d: %v: %s (%.1f s)\n%s", seed, n, o.Scenario, w, out.Seconds, logs(t, o.Dir))
				}
				mu.Lock()
				all = append(all, out)
				mu.Unlock()
			}
		})
	}
	for n := 1; n <= count; n++ {
		if only == 0 || only == n {
			list <- uint64(n)
		}
	}
	close(list)
	workers.Wait()
	t.Logf("seed %d, %d jobs of %d ranks, undisturbed %.1f s\n%s", seed, len(all), ranks, calm.Seconds, table(all, want))
}

// logs returns the last lines of the logs of a job: STORM_LINES of each, or 12.
func logs(t *testing.T, dir string) string {
	t.Helper()
	keep := number(t, "STORM_LINES", 12)
	var b strings.Builder
	names, _ := filepath.Glob(filepath.Join(dir, "*.log")) // the pattern is right
	slices.Sort(names)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		fmt.Fprintf(&b, "--- %s\n%s\n", filepath.Base(name), strings.Join(lines[max(0, len(lines)-keep):], "\n"))
	}
	return b.String()
}
