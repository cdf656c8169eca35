// SPDX-License-Identifier: Apache-2.0

//go:build linux

package places

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/harness"
)

// gvwBin is the program.
var gvwBin string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "gvw-places-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	gvwBin = filepath.Join(dir, "gvw")
	if err := harness.Go(context.Background(), nil, "build", "-o", gvwBin, "../../cmd/gvw"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// limit bounds each job.
const limit = time.Minute

// need skips a test without its programs; with REQUIRE_ALL=1 it fails it.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			missing(t, fmt.Sprintf("%s is not installed: scripts/setup-places.sh installs it", name))
		}
	}
}

func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("REQUIRE_ALL") == "1" {
		t.Fatal("REQUIRE_ALL=1, and ", why)
	}
	t.Skip(why)
}

// learn are the learner's options of all jobs.
var learn = strings.Fields("-d t.vw --passes 4 -k --cache_file cache --holdout_off --quiet -f")

// options returns the learner's options of a job that writes a model.
func options(model string) []string { return append(learn[:len(learn):len(learn)], model) }

// folder returns a folder with a data set, and the model of gvw run on it.
func folder(t *testing.T) (dir string, want []byte) {
	t.Helper()
	dir = t.TempDir()
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "%d | a:%d b%d c%d\n", i%2*2-1, i%7, i%13, i*7%31)
	}
	if err := os.WriteFile(filepath.Join(dir, "t.vw"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := start(t, dir, nil, gvwBin, append([]string{"run", "-n", "3", "--"}, options("want")...)...)()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir, model(t, dir, "want")
}

func model(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// start starts a program in a folder, with further variables. The returned function waits for its end.
func start(t *testing.T, dir string, env []string, name string, args ...string) func() (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	var out harness.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, append(os.Environ(), env...), &out, &out, time.Second
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	return func() (string, error) {
		defer cancel()
		err := cmd.Wait()
		return out.String(), err
	}
}

// killed is the fault of all jobs: rank 1 dies in its first attempt.
const killed = "GVW_FAULT=rank:1,op:5,kind:kill"

// check checks the end of a job that has lost rank 1.
func check(t *testing.T, dir string, want []byte, out string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(out, "rank 1 has ended (ended by signal 9") {
		t.Errorf("rank 1 was not killed:\n%s", out)
	}
	if !bytes.Equal(model(t, dir, "model"), want) {
		t.Errorf("the model differs from that of gvw run:\n%s", out)
	}
}

func TestOpenMPI(t *testing.T) {
	need(t, "mpirun.openmpi")
	dir, want := folder(t)
	env := []string{killed, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}
	out, err := start(t, dir, env, "mpirun.openmpi", append([]string{"-n", "3", "--oversubscribe", gvwBin, "run", "--join", "--"}, options("model")...)...)()
	check(t, dir, want, out, err)
}

// TestMPICH uses a shared directory, since Hydra does not identify its job.
func TestMPICH(t *testing.T) {
	need(t, "mpiexec.hydra")
	dir, want := folder(t)
	args := append([]string{"-n", "3", gvwBin, "run", "--join", "--join_dir", "meet", "--"}, options("model")...)
	out, err := start(t, dir, []string{killed, "GVW_RUN_ID=places"}, "mpiexec.hydra", args...)()
	check(t, dir, want, out, err)
	if left, err := os.ReadDir(filepath.Join(dir, "meet")); err != nil || len(left) > 0 {
		t.Errorf("left in the shared directory: %v, %v", left, err)
	}
	out, err = start(t, dir, nil, "mpiexec.hydra", args...)()
	if err == nil || !strings.Contains(out, "set GVW_RUN_ID") {
		t.Errorf("without a name of the run: %v\n%s", err, out)
	}
}

// TestVariables starts the ranks with the variables that torchrun and Kubeflow set, one after the other in reverse order,
// so that rank 0 and its server come last.
func TestVariables(t *testing.T) {
	for name, variables := range map[string]string{
		"torchrun": "TORCHELASTIC_RUN_ID=t%[2]d RANK=%[1]d WORLD_SIZE=3 LOCAL_RANK=%[1]d LOCAL_WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500",
		"Kubeflow": "PET_NODE_RANK=%[1]d PET_NNODES=3 PET_NPROC_PER_NODE=1 PET_MASTER_ADDR=127.0.0.1 PET_RDZV_ID=k%[2]d",
	} {
		t.Run(name, func(t *testing.T) {
			dir, want := folder(t)
			port := freePort(t)
			var ends []func() (string, error)
			for rank := 2; rank >= 0; rank-- {
				env := append(strings.Fields(fmt.Sprintf(variables, rank, os.Getpid())), killed)
				args := append([]string{"run", "--join", "--port", strconv.Itoa(port), "--"}, options("model")...)
				ends = append(ends, start(t, dir, env, gvwBin, args...))
			}
			var all strings.Builder
			for i, end := range ends {
				out, err := end()
				if err != nil {
					t.Errorf("rank %d: %v\n%s", 2-i, err, out)
				}
				all.WriteString(out)
			}
			check(t, dir, want, all.String(), nil)
		})
	}
}

// TestEviction ends the pod of a rank by SIGTERM, as Kubernetes does before it starts the rank elsewhere. The job waits for
// the other attempt.
func TestEviction(t *testing.T) {
	dir, want := folder(t)
	args := append([]string{"run", "--join", "-n", "3", "--port", strconv.Itoa(freePort(t)), "--join_dir", "meet", "--"}, options("model")...)
	index := func(rank int) string { return "JOB_COMPLETION_INDEX=" + strconv.Itoa(rank) }
	const slow = "GVW_FAULT=rank:1,op:4,kind:slow,delay:3s"
	others := []func() (string, error){
		start(t, dir, []string{"GVW_RUN_ID=evicted", index(0)}, gvwBin, args...),
		start(t, dir, []string{"GVW_RUN_ID=evicted", index(2)}, gvwBin, args...),
	}
	var out harness.Buffer
	evicted := exec.Command(gvwBin, args...)
	evicted.Dir, evicted.Env, evicted.Stdout, evicted.Stderr = dir, append(os.Environ(), "GVW_RUN_ID=evicted", index(1), slow), &out, &out
	if err := evicted.Start(); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); !strings.Contains(out.String(), "fault"); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > limit {
			t.Fatalf("rank 1 has not come to its fault within %v:\n%s", limit, out.String())
		}
	}
	if err := evicted.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := evicted.Wait(); evicted.ProcessState.ExitCode() != 143 {
		t.Errorf("the evicted rank: %v, want exit code 143\n%s", err, out.String())
	}
	again, err := start(t, dir, []string{"GVW_RUN_ID=evicted", index(1)}, gvwBin, args...)()
	if err != nil {
		t.Errorf("the other attempt: %v\n%s", err, again)
	}
	for _, end := range others {
		if out, err := end(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	if !bytes.Equal(model(t, dir, "model"), want) {
		t.Error("the model differs from that of gvw run")
	}
}

// TestServerGiven starts two ranks of a job at a server that is no rank's.
func TestServerGiven(t *testing.T) {
	need(t, "mpiexec.hydra")
	dir, _ := folder(t)
	out, err := start(t, dir, []string{"GVW_RUN_ID=places"}, "mpiexec.hydra",
		append([]string{"-n", "2", gvwBin, "run", "--join=127.0.0.1:" + strconv.Itoa(freePort(t)), "--start_timeout", "0.3s", "--"}, options("model")...)...)()
	if err == nil || !strings.Contains(out, "found no server within 300ms") {
		t.Errorf("no server is there: %v\n%s", err, out)
	}
}

// TestFailure has a rank that cannot succeed: the job must end with its cause, and not wait for another attempt.
func TestFailure(t *testing.T) {
	need(t, "mpiexec.hydra")
	dir, _ := folder(t)
	for rank := range 2 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part.%d", rank)), []byte("1 | a\n-1 | b\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := start(t, dir, []string{"GVW_RUN_ID=places"}, "mpiexec.hydra", "-n", "1", gvwBin, "run", "--join", "--max_restarts", "1", "--port", strconv.Itoa(freePort(t)), "--", "-d", "x")()
	if err == nil || !strings.Contains(out, "x") {
		t.Errorf("missing data: %v\n%s", err, out)
	}
	// mpiexec ends all processes at the first failure, so the ranks are started without it.
	port := strconv.Itoa(freePort(t))
	var ends []func() (string, error)
	for rank := range 3 {
		env := []string{"PMI_SIZE=3", fmt.Sprintf("PMI_RANK=%d", rank), "MPI_LOCALNRANKS=3", "GVW_RUN_ID=places"}
		ends = append(ends, start(t, dir, env, gvwBin, "run", "--join", "--max_restarts", "1", "--port", port, "--", "-d", "part.{rank}", "--quiet", "--passes", "2", "--cache_file", "c"))
	}
	for rank, end := range ends {
		out, err := end()
		if err == nil || rank != 2 && !strings.Contains(out, "rank 2 of 3 failed") || rank == 2 && !strings.Contains(out, "part.2") {
			t.Errorf("rank %d: %v\n%s", rank, err, out)
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// daemon starts a program that runs until the end of the test.
func daemon(t *testing.T, env []string, name string, args ...string) *harness.Buffer {
	t.Helper()
	out := &harness.Buffer{}
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = append(os.Environ(), env...), out, out, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() { _ = cmd.Wait() })
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		done.Wait()
	})
	return out
}
