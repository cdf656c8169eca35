// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestCrashedWorkersAreStartedAgain checks that a worker that is crashed by a signal from
// outside is lost and restarted, and that the report names the signal.
func TestCrashedWorkersAreStartedAgain(t *testing.T) {
	dir := t.TempDir()
	launcher, stderr, workers := endlessWith(t, dir)
	for i, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV} {
		if err := syscall.Kill(workers[i], sig); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a new worker", func() bool {
			now := children(t, launcher.Process.Pid)
			return len(now) == 3 && !slices.Contains(now, workers[i])
		})
	}
	if err := launcher.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := launcher.Wait(); launcher.ProcessState.ExitCode() != 143 {
		t.Errorf("%v\n%s", err, stderr)
	}
	for _, want := range []string{"SIGQUIT: quit", "SIGABRT: abort", "SIGSEGV: segmentation violation"} {
		if !strings.Contains(stderr.String(), "has ended (crashed: "+want) {
			t.Errorf("the report lacks %q:\n%s", want, stderr)
		}
	}
}

// TestRunListensOnTheLoopback checks that the server and the ranks of gvw run listen only
// on the loopback interface.
func TestRunListensOnTheLoopback(t *testing.T) {
	for name, options := range map[string][]string{
		"as it is": nil, "without shared memory": {"--shm", "off"}, "advertised": {"--advertise", "localhost"},
	} {
		t.Run(name, func(t *testing.T) {
			launcher, _, workers := endless(t, t.TempDir(), options...)
			defer func() {
				_ = launcher.Process.Kill() // its workers follow
				_ = launcher.Wait()
				for _, pid := range workers {
					gone(t, pid)
				}
			}()
			found := 0
			for _, pid := range append(workers, launcher.Process.Pid) {
				at := listeners(t, pid)
				found += len(at)
				for _, local := range at {
					if !strings.HasPrefix(local, "0100007F:") && !strings.HasPrefix(local, "00000000000000000000000001000000:") {
						t.Errorf("process %d listens at %s", pid, local)
					}
				}
			}
			if found < 4 {
				t.Errorf("%d listeners, want the server's and one for each of 3 ranks", found)
			}
		})
	}
}

// listeners returns the local addresses at which a process listens, in the form of
// /proc/net/tcp: hexadecimal, in the byte order of the host.
func listeners(t *testing.T, pid int) (local []string) {
	t.Helper()
	sockets := map[string]bool{}
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil { // else it was closed meanwhile
			sockets[to] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			// sl local remote state …; 0A is LISTEN, field 9 the inode
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" && sockets["socket:["+f[9]+"]"] {
				local = append(local, f[1])
			}
		}
	}
	return local
}
