// SPDX-License-Identifier: Apache-2.0

//go:build rdma

package rdma

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/harness"
)

func inGuest(t *testing.T) {
	t.Helper()
	if os.Getenv("GVW_RDMA_GUEST") == "" {
		t.Skip("it runs in the guest")
	}
}

// train trains the hybrid with four workers over the transport how, and returns its output and
// model. during is called with the folder of logs while they work.
func train(t *testing.T, how string, during func(logs string), env string, more ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	args := []string{"run", "-n", "4", "--log_dir", filepath.Join(dir, "logs"), "--", "-d", "/t/train.vw", "-f", filepath.Join(dir, "model")}
	args = append(args, strings.Fields("-b 14 --loss_function logistic --hybrid 2:6 --l2 0.01 --shm off --transport")...)
	if args = append(append(args, how), more...); !slices.Contains(more, "--lost_after") {
		args = append(args, "--lost_after", "1m") // the host may be busy: no rank may be lost for being slow
	}
	cmd := exec.CommandContext(t.Context(), "/t/gvw", args...) // the limit of the whole guest detects a hang
	cmd.Env = append(os.Environ(), env)
	var talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &talk, &talk
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if during != nil {
		during(filepath.Join(dir, "logs"))
	}
	err := cmd.Wait()
	for rank := range 4 {
		log, e := os.ReadFile(filepath.Join(dir, "logs", "rank-0"+string(rune('0'+rank))+".log"))
		want := 0 // epochs over verbs
		if how != "tcp" {
			want = 1
		}
		if slices.Contains(more, "--on_loss") {
			want = 2 // a rank was lost, and the connections of the next epoch were upgraded, too
		}
		if lifted := bytes.Count(log, []byte("transport: verbs over rxe")); e != nil || lifted < want || want == 0 && lifted > 0 {
			t.Errorf("rank %d: %d epochs over verbs, want %d, %v\n%s", rank, lifted, want, e, log)
		}
	}
	if how == "verbs" {
		for rank := range 4 {
			log, _ := os.ReadFile(filepath.Join(dir, "logs", "rank-0"+string(rune('0'+rank))+".log"))
			if !registered.Match(log) {
				t.Errorf("rank %d has sent no gradient from where it was:\n%s", rank, log)
			}
		}
	}
	if err != nil {
		t.Fatalf("%v after %v\n%s", err, time.Since(begun), &talk)
	}
	model, err := os.ReadFile(filepath.Join(dir, "model"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %v", how, time.Since(begun).Round(time.Second/10))
	return model
}

// registered matches the log line of a job whose vectors were sent without a copy.
var registered = regexp.MustCompile(`over verbs: [1-9][0-9]* bytes sent from where they were`)

// TestGuestTraining: a model trained over verbs has the bytes of one over TCP, also when a
// rank is killed in the middle, or stopped.
func TestGuestTraining(t *testing.T) {
	inGuest(t)
	want := train(t, "tcp", nil, "")
	same := func(t *testing.T, model []byte) {
		t.Helper()
		if !bytes.Equal(model, want) {
			t.Error("the model has other bytes than over TCP")
		}
	}
	t.Run("verbs", func(t *testing.T) { same(t, train(t, "verbs", nil, "")) })
	t.Run("killed", func(t *testing.T) {
		same(t, train(t, "verbs", nil, "GVW_FAULT=rank:2,op:7,kind:exit,attempt:1", "--on_loss", "wait", "--verbs_device", "10.77.0.2"))
	})
	t.Run("stopped", func(t *testing.T) {
		same(t, train(t, "verbs", func(logs string) { stopRank(t, filepath.Join(logs, "rank-01.log")) }, "", "--on_loss", "wait", "--lost_after", "15s"))
	})
}

// stopRank stops a worker's process once its log says that it is over verbs.
func stopRank(t *testing.T, log string) {
	t.Helper()
	var rank harness.Process
	if !harness.Until(5*time.Minute, 20*time.Millisecond, func() bool {
		b, err := os.ReadFile(log)
		if err != nil || !bytes.Contains(b, []byte("transport: verbs")) {
			return false
		}
		rank = harness.Find(func(p harness.Process) bool { return p.Says("--node=1") || p.Says("--node", "1") })
		return rank != 0
	}) {
		t.Error("no worker of rank 1 was over verbs within 5 minutes")
		return
	}
	if err := syscall.Kill(int(rank), syscall.SIGSTOP); err != nil {
		t.Error(err)
	}
}

// TestGuestVerbsMemory trains with shared vectors over verbs. With --verbs_memory 1 the receive queues, which take
// more, stay with TCP, and the log of each rank has the reason. The model is the same.
func TestGuestVerbsMemory(t *testing.T) {
	inGuest(t)
	shared := func(t *testing.T, more ...string) (model []byte, refused int) {
		dir := t.TempDir()
		args := []string{"run", "-n", "3", "--log_dir", filepath.Join(dir, "logs"), "--", "-d", "/t/train.vw", "-f", filepath.Join(dir, "model")}
		args = append(args, strings.Fields("-b 16 --loss_function logistic --malt all --sync bsp --passes 2 -k --cache_file c --shm off --transport verbs --lost_after 1m")...)
		cmd := exec.CommandContext(t.Context(), "/t/gvw", append(args, more...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for rank := range 3 {
			log, err := os.ReadFile(filepath.Join(dir, "logs", fmt.Sprintf("rank-%02d.log", rank)))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(log, []byte("asynchronous passes ended")) {
				t.Errorf("rank %d has not trained with shared vectors\n%s", rank, log)
			}
			if bytes.Contains(log, []byte("registered of at most 1048576")) {
				refused++
			}
		}
		model, err := os.ReadFile(filepath.Join(dir, "model"))
		if err != nil {
			t.Fatal(err)
		}
		return model, refused
	}
	want, refused := shared(t)
	if refused > 0 {
		t.Errorf("without a limit %d ranks had queues refused", refused)
	}
	got, refused := shared(t, "--verbs_memory", "1")
	if refused != 3 {
		t.Errorf("with 1 MiB %d ranks had queues refused, want 3", refused)
	}
	if !bytes.Equal(got, want) {
		t.Error("with a limit the model has other bytes")
	}
}

// TestGuestDoctor: the devices are listed.
func TestGuestDoctor(t *testing.T) {
	inGuest(t)
	out, err := exec.Command("/t/gvw", "doctor", "--verbs").CombinedOutput()
	for _, want := range []string{"rxe0", "rxe1", "10.77.0.1", "10.77.0.2", "Ethernet", "4096", "within the device", "type 2"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in it (%v):\n%s", want, err, out)
		}
	}
}

// TestGuestMeasures: gvw bench measures verbs or fails, because each rank's bench requires a
// device.
func TestGuestMeasures(t *testing.T) {
	inGuest(t)
	out, err := exec.Command("/t/gvw", "bench", "allreduce", "-n", "2", "--transport", "verbs", "--alloc",
		"--sizes", "8,65536", "--rounds", "1", "--per_size", "50ms", "--quiet").CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("gvw_alloc")) {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
