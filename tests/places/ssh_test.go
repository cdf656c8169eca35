// SPDX-License-Identifier: Apache-2.0

//go:build linux

package places

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/harness"
)

// sshdConf is the configuration of a server for this test. Its sessions have their files in a folder of the test.
const sshdConf = `Port %[2]d
ListenAddress 127.0.0.2
ListenAddress 127.0.0.3
ListenAddress 127.0.0.4
HostKey %[1]s/host
AuthorizedKeysFile %[1]s/user.pub
PidFile %[1]s/sshd.pid
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
SetEnv HOME=%[1]s TMPDIR=%[1]s
`

const threeHosts = "127.0.0.2,127.0.0.3,127.0.0.4"

// sshServer starts sshd on three addresses and returns the command of a client, and the folder of its sessions. The client
// fails while the file "cut" is in that folder.
func sshServer(t *testing.T) (client, dir string) {
	t.Helper()
	need(t, "/usr/sbin/sshd", "ssh", "ssh-keygen")
	if os.Geteuid() != 0 {
		missing(t, "sshd needs root to change to a directory for its unprivileged part")
	}
	dir = t.TempDir()
	for _, name := range []string{"host", "user"} {
		if out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	conf := filepath.Join(dir, "sshd_config")
	if err := os.WriteFile(conf, fmt.Appendf(nil, sshdConf, dir, port), 0o600); err != nil {
		t.Fatal(err)
	}
	out := daemon(t, nil, "/usr/sbin/sshd", "-D", "-e", "-f", conf)
	if !harness.Until(20*time.Second, 50*time.Millisecond, func() bool {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.4:%d", port))
		return err == nil && conn.Close() == nil
	}) {
		t.Fatalf("sshd does not start: %s", out)
	}
	client = filepath.Join(dir, "client")
	script := fmt.Sprintf("#!/bin/sh\n[ ! -e %[1]s/cut ] || exit 255\nexec ssh -F none -T -p %[2]d -i %[1]s/user -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \"$@\"\n", dir, port)
	if err := os.WriteFile(client, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return client, dir
}

// hosts returns the arguments of a job on three hosts.
func hosts(client string, more ...string) []string {
	return append([]string{"run", "--hosts", threeHosts, "--ssh", client, "--log_dir", "logs"}, more...)
}

// nothingRuns checks that no process of the program is left, and no worker's directory.
func nothingRuns(t *testing.T, dir string) {
	t.Helper()
	var left harness.Process
	if !harness.Until(20*time.Second, 50*time.Millisecond, func() bool {
		left = harness.Find(func(p harness.Process) bool {
			args := p.Args()
			return len(args) > 0 && strings.HasPrefix(args[0], filepath.Dir(gvwBin))
		})
		return left == 0
	}) {
		t.Errorf("process %d still runs: %q", left, left.Args())
	}
	workers, _ := filepath.Glob(filepath.Join(dir, "gvw-workers-*", "*"))
	if len(workers) > 0 {
		t.Errorf("left behind: %v", workers)
	}
}

func TestHosts(t *testing.T) {
	client, sessions := sshServer(t)
	dir, want := folder(t)
	file := filepath.Join(dir, "hosts")
	if err := os.WriteFile(file, []byte("# three machines\n127.0.0.2\n127.0.0.3 slots=1\n127.0.0.4:4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"run", "-n", "3", "--hosts", file, "--ssh", client, "--log_dir", "logs", "--copy", "--"}, options("model")...)
	out, err := start(t, dir, []string{killed}, gvwBin, args...)()
	check(t, dir, want, out, err)
	copies, _ := filepath.Glob(filepath.Join(sessions, ".cache", "gvw", "gvw-*"))
	if len(copies) != 1 {
		t.Errorf("copies of the program: %v", copies)
	}
	if log := string(model(t, dir, filepath.Join("logs", "rank-01.log"))); !strings.Contains(log, "GVW_FAULT") {
		t.Errorf("the log of rank 1 lacks its fault: %s", log)
	}
	nothingRuns(t, sessions)
	out, err = start(t, dir, nil, gvwBin, append(hosts("false", "--"), options("model")...)...)()
	// Any of the three hosts may be the first.
	if err == nil || !strings.Contains(out, "cannot start a worker on 127.0.0.") || !strings.Contains(out, " by false: exit status 1") {
		t.Errorf("a client that fails: %v\n%s", err, out)
	}
}

// held starts a job whose rank 2 waits for its data, and returns when all workers run. feed gives rank 2 its data.
func held(t *testing.T, client, dir string) (job *exec.Cmd, out *harness.Buffer, feed func()) {
	t.Helper()
	text := model(t, dir, "t.vw")
	for rank := range 2 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part.%d", rank)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pipe := filepath.Join(dir, "part.2")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	out = &harness.Buffer{}
	job = exec.Command(gvwBin, hosts(client, "--", "-d", "part.{rank}", "--passes", "4", "--cache_file", "cache", "--holdout_off", "--quiet", "-f", "model")...)
	job.Dir, job.Stdout, job.Stderr, job.WaitDelay = dir, out, out, time.Second
	job.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell does
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = job.Process.Kill() })
	// Opening succeeds when rank 2 reads.
	var writer *os.File
	if !harness.Until(limit, 20*time.Millisecond, func() bool {
		var err error
		writer, err = os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return err == nil
	}) {
		t.Fatalf("rank 2 does not read its data: %s", out)
	}
	server := filepath.Join(dir, "logs", "server.log")
	if !harness.Until(limit, 20*time.Millisecond, func() bool {
		b, _ := os.ReadFile(server)
		return strings.Contains(string(b), "joined=3 ")
	}) {
		t.Fatalf("not all ranks join: %s", out)
	}
	return job, out, func() {
		if _, err := writer.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// cut ends the connection to the worker of rank 1 and waits until its tether has noticed.
func cut(t *testing.T, dir string) {
	t.Helper()
	at := harness.Find(func(p harness.Process) bool {
		args := p.Args()
		return len(args) > 2 && args[0] == "ssh" && args[len(args)-2] == "127.0.0.3" && strings.Contains(args[len(args)-1], gvwBin)
	})
	if at == 0 {
		t.Fatal("there is no connection to rank 1")
	}
	if err := syscall.Kill(int(at), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "logs", "rank-01.log")
	if !harness.Until(limit, 20*time.Millisecond, func() bool {
		b, _ := os.ReadFile(log)
		return strings.Contains(string(b), "the connection to 127.0.0.3 is lost")
	}) {
		t.Fatalf("the tether does not notice: %s", model(t, dir, filepath.Join("logs", "rank-01.log")))
	}
}

// TestLostConnection suspends and continues a job like Ctrl-Z and fg, and later cuts the connection to a worker, which goes on.
func TestLostConnection(t *testing.T) {
	client, sessions := sshServer(t)
	dir, _ := folder(t)
	job, out, feed := held(t, client, dir)
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := syscall.Kill(-job.Process.Pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	cut(t, dir)
	feed()
	if err := job.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(out.String(), "has ended") {
		t.Errorf("a worker was lost:\n%s", out)
	}
	lost := model(t, dir, "model")
	if err := os.Remove(filepath.Join(dir, "part.2")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "part.2"), model(t, dir, "t.vw"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := start(t, dir, nil, gvwBin, "run", "-n", "3", "--", "-d", "part.{rank}", "--passes", "4", "--cache_file", "again", "--holdout_off", "--quiet", "-f", "want")(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !bytes.Equal(lost, model(t, dir, "want")) {
		t.Error("the model differs from that of gvw run -n 3")
	}
	nothingRuns(t, sessions)
}

// TestInterruptWithoutConnection interrupts a job of which one worker cannot be reached: that one ends, too.
func TestInterruptWithoutConnection(t *testing.T) {
	client, sessions := sshServer(t)
	dir, _ := folder(t)
	job, out, _ := held(t, client, dir)
	if err := os.WriteFile(filepath.Join(sessions, "cut"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cut(t, dir)
	if err := job.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = job.Wait() // the exit code tells
	if code := job.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130:\n%s", code, out)
	}
	left, err := filepath.Glob(filepath.Join(sessions, "gvw-workers-*", "*"))
	if err != nil || len(left) > 1 {
		t.Errorf("directories of workers: %v, %v; want at most that of rank 1, which could not be asked\n%s\nrank 2: %s", left, err, out, model(t, dir, filepath.Join("logs", "rank-02.log")))
	}
	for _, name := range left {
		if err := os.RemoveAll(name); err != nil {
			t.Error(err)
		}
	}
	nothingRuns(t, sessions)
}

// TestLauncherKilled kills the launcher: all workers end, and the tethers do.
func TestLauncherKilled(t *testing.T) {
	client, sessions := sshServer(t)
	dir, _ := folder(t)
	job, _, _ := held(t, client, dir)
	if err := job.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = job.Wait() // killed
	nothingRuns(t, sessions)
}
