// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/model"
)

// dialDaemon connects a client, whose reads and writes must not take long. Closing it leaves no port in use.
func dialDaemon(t *testing.T, port string) *net.TCPConn {
	t.Helper()
	nc, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	c := nc.(*net.TCPConn)
	if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := c.SetLinger(0); err != nil {
		t.Fatal(err)
	}
	return c
}

// 10,000 idle connections cost less than 64 MiB, and others are answered beside them.
func TestDaemonIdleConnections(t *testing.T) {
	const idle, most = 10_000, 64 << 20
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	if files.Max < idle+200 {
		t.Skipf("a process may open %d files, and this test needs %d: raise the limit (ulimit -n)", files.Max, idle+200)
	}
	dir := t.TempDir()
	p, port := startDaemon(t, dir, []string{gvwBin}, "-b", "10", "-f", "m", "--quiet")
	before := residentMemory(t, p.cmd.Process.Pid)
	for range idle {
		dialDaemon(t, port)
	}
	if got := talkDaemon(t, port, "'last|a x\n"); got != "0 last\n" { // it is answered after all others have been accepted
		t.Errorf("a further client: %q", got)
	}
	after := residentMemory(t, p.cmd.Process.Pid)
	t.Logf("resident memory from %d to %d KiB", before>>10, after>>10)
	if after > before+most {
		t.Errorf("resident memory has grown from %d to %d MiB, want %d more at most", before>>20, after>>20, most>>20)
	}
	endDaemon(t, p)
}

// residentMemory returns the resident memory of a process, in bytes.
func residentMemory(t *testing.T, pid int) uint64 {
	t.Helper()
	var size, resident uint64
	if _, err := fmt.Sscan(readFile(t, fmt.Sprintf("/proc/%d/statm", pid)), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * uint64(os.Getpagesize())
}

// learned returns the number of examples that a model has learned from; 0: there is no such file yet.
func learned(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	reg, err := model.Read(bytes.NewReader(b), model.Limits{Bits: 20})
	if err != nil {
		t.Fatal(err)
	}
	return int(reg.Resume.ExampleNumber)
}

// SIGTERM, while clients send examples, loses none that was answered.
func TestDaemonSIGTERMLosesNoAnswer(t *testing.T) {
	dir := t.TempDir()
	p, port := startDaemon(t, dir, []string{gvwBin}, "-b", "10", "-f", "m", "--checkpoint", "state", "--quiet")
	const clients = 4
	var answered [clients]int
	var all, halfway sync.WaitGroup
	halfway.Add(clients)
	for i := range clients {
		c := dialDaemon(t, port)
		all.Go(func() {
			answers := bufio.NewReader(c)
			for {
				if _, err := c.Write([]byte("1 |a x\n")); err != nil {
					break
				}
				if _, err := answers.ReadString('\n'); err != nil {
					break
				}
				if answered[i]++; answered[i] == 50 {
					halfway.Done()
				}
			}
		})
	}
	halfway.Wait()
	endDaemon(t, p)
	all.Wait()
	sum := 0
	for _, n := range answered {
		sum += n
	}
	for _, name := range []string{"m", "state"} {
		if n := learned(t, filepath.Join(dir, name)); n < sum || n > sum+clients {
			t.Errorf("%s has %d examples after %d were answered", name, n, sum)
		}
	}
}

// A checkpoint is written --checkpoint_interval after an example, however few there are: kill -9 does not lose it.
func TestDaemonCheckpointByTime(t *testing.T) {
	dir := t.TempDir()
	options := []string{"-b", "10", "--checkpoint", "state", "--checkpoint_every", "1000000", "--checkpoint_interval", "200ms", "--resume", "--quiet"}
	p, port := startDaemon(t, dir, []string{gvwBin}, options...)
	talkDaemon(t, port, daemonData(30))
	state := filepath.Join(dir, "state")
	waitFor(t, "a checkpoint of 30 examples", func() bool { return learned(t, state) == 30 })
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	_, port = startDaemon(t, dir, []string{gvwBin}, options...)
	got := talkDaemon(t, port, "'last|a x1\n")
	writeFile(t, filepath.Join(dir, "whole"), daemonData(30)+"'last|a x1\n")
	gvw(t, dir, "-b", "10", "-d", "whole", "-p", "p", "--quiet")
	if want := readFile(t, filepath.Join(dir, "p")); !strings.HasSuffix(want, got) || !strings.HasSuffix(got, " last\n") {
		t.Errorf("after the restart: %q, want the last line of\n%s", got, want)
	}
}

// vw's own test of its daemon (test/daemon-test.sh of its repository) does what this test does: it starts vw as a shell does, in the
// background and in the foreground, looks for the process by its command line, sends the examples of a file, and
// ends the process by SIGKILL.
func TestDaemonAsInTheTestOfVW(t *testing.T) {
	dir := t.TempDir()
	vw := filepath.Join(dir, "vw")
	if err := os.Symlink(gvwBin, vw); err != nil {
		t.Fatal(err)
	}
	examples := "0.55 1 '1| a\n0.99 1 '2| b c\n"
	writeFile(t, filepath.Join(dir, "train"), examples)
	run(t, dir, vw, "-b", "10", "--quiet", "-d", "train", "-f", "m").ends(t, "training", 0)
	for _, foreground := range []string{"", "--foreground "} {
		port := freePort(t)
		command := fmt.Sprintf("%s -t -i m --daemon %s--num_children 1 --quiet --port %s", vw, foreground, port)
		script := command + " </dev/null >/dev/null & echo $!; wait"
		if foreground != "" {
			script = "exec " + command + " </dev/null >/dev/null"
		}
		shell := start(t, dir, "sh", "-c", script)
		started := fmt.Sprint(shell.cmd.Process.Pid)
		if foreground == "" {
			started = strings.TrimSpace(shell.wait().stdout)
		}
		var nc net.Conn
		waitFor(t, "the daemon to listen", func() (ok bool) {
			var err error
			nc, err = net.Dial("tcp", "127.0.0.1:"+port)
			return err == nil
		})
		_ = nc.Close()
		pids := processesOf(t, command)
		if len(pids) != 1 || (fmt.Sprint(pids[0]) == started) != (foreground != "") {
			t.Errorf("%q: processes %v, and the shell has started %s", foreground, pids, started)
		}
		var got strings.Builder
		for line := range strings.Lines(talkDaemon(t, port, examples)) {
			got.WriteString(line[:5] + " ")
		}
		if got.String() != "0.553 0.733 " {
			t.Errorf("%q: the answers begin %q", foreground, got.String())
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			waitFor(t, "the daemon to end", func() bool { return !alive(pid) })
		}
	}
}

// processesOf returns the processes whose command line contains a text, as pgrep -f does, except shells.
func processesOf(t *testing.T, text string) (pids []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		line := string(bytes.ReplaceAll(b, []byte{0}, []byte(" ")))
		var pid int
		if _, err := fmt.Sscanf(file, "/proc/%d/cmdline", &pid); err == nil && strings.Contains(line, text) && !strings.HasPrefix(line, "sh ") {
			pids = append(pids, pid)
		}
	}
	return pids
}
