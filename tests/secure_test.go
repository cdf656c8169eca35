// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// keyring is a folder with credentials of every kind.
type keyring struct{ dir string }

func newKeyring(t *testing.T) keyring {
	t.Helper()
	k := keyring{t.TempDir()}
	gvw(t, k.dir, "keygen", "--secret", "secret")
	gvw(t, k.dir, "keygen", "--dir", "keys")
	return k
}

func (k keyring) secret() []string { return []string{"--secret_file", filepath.Join(k.dir, "secret")} }

// tls returns the certificates of a server or a rank.
func (k keyring) tls(who string) []string {
	in := func(name string) string { return filepath.Join(k.dir, "keys", name) }
	return []string{"--tls_cert", in(who + ".crt"), "--tls_key", in(who + ".key"), "--tls_ca", in("ca.crt")}
}

// examples writes a small set, drawn the same way each time.
func examples(t *testing.T, dir string, n int) string {
	t.Helper()
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "%d | a:%d b%d c%d\n", i%2*2-1, i%7, i%53, i*i%31)
	}
	name := filepath.Join(dir, "examples.vw")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// guardedJob runs two ranks over sockets.
func guardedJob(t *testing.T, port, data, model string, options []string) (results [2]result) {
	t.Helper()
	var ranks [2]*process
	for i := range ranks {
		args := append(clusterArgs(port, 1, i, 2), "-d", data, "-f", model, "--shm", "off", "--quiet", "--start_timeout", "20s")
		ranks[i] = start(t, filepath.Dir(data), gvwBin, append(args, options...)...)
	}
	for i, r := range ranks {
		results[i] = r.wait()
	}
	return results
}

// Credentials do not change any bit of the model.
func TestGuardedJobs(t *testing.T) {
	t.Parallel()
	dir, k, foreign := t.TempDir(), newKeyring(t), newKeyring(t)
	data := examples(t, dir, 500)
	plain := filepath.Join(dir, "plain")
	for i, r := range guardedJob(t, startServer(t), data, plain, nil) {
		r.ends(t, fmt.Sprint("rank ", i, " without credentials"), 0)
	}
	want := readFile(t, plain)
	for name, c := range map[string]struct{ server, rank []string }{
		"secret": {k.secret(), k.secret()},
		"TLS":    {k.tls("server"), k.tls("rank")},
		"both":   {append(k.secret(), k.tls("server")...), append(k.secret(), k.tls("rank")...)},
		"hidden": {append(k.secret(), "--encrypt"), append(k.secret(), "--encrypt")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port := startServer(t, c.server...)
			model := filepath.Join(t.TempDir(), "m")
			for i, r := range guardedJob(t, port, data, model, c.rank) {
				r.ends(t, fmt.Sprint("rank ", i), 0)
			}
			if readFile(t, model) != want {
				t.Error("the model is another one")
			}
			// A client with other credentials, or none, gets an error.
			for _, wrong := range [][]string{nil, foreign.secret(), foreign.tls("rank"), k.secret(), k.tls("rank")} {
				if fmt.Sprint(wrong) == fmt.Sprint(c.rank) {
					continue
				}
				for i, r := range guardedJob(t, port, data, model+".wrong", wrong) {
					r.ends(t, fmt.Sprintf("rank %d with %v", i, wrong), 6, "unauthorised")
				}
			}
		})
	}
}

// Only clients with the server's credentials can list its jobs.
func TestGuardedListing(t *testing.T) {
	t.Parallel()
	k := newKeyring(t)
	port := startServer(t, k.secret()...)
	at := []string{"jobs", "--span_server", "127.0.0.1", "--span_server_port", port}
	run(t, k.dir, gvwBin, append(at, k.secret()...)...).ends(t, "jobs with the secret", 0)
	run(t, k.dir, gvwBin, at...).ends(t, "jobs without it", 6, "it requests a proof of a secret")
}

// TestSecretIsNotVisible looks for the secret of a run in everything that other users can read:
// the command lines and environments of its processes, and its logs.
func TestSecretIsNotVisible(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	k := newKeyring(t)
	secret := strings.TrimSpace(readFile(t, filepath.Join(k.dir, "secret")))
	logs := filepath.Join(k.dir, "logs")
	data := examples(t, k.dir, 3000)
	// The workers stop until both have been seen.
	p := startWith(t, k.dir, nil, []string{"GVW_FAULT=work:2,kind:stop"}, gvwBin, append(append([]string{"run", "-n", "2", "--log_dir", logs}, k.secret()...),
		"--", "-d", data, "-f", "m", "--passes", "3", "-c", "--holdout_off")...)
	launcher := strconv.Itoa(p.cmd.Process.Pid)
	done := make(chan result, 1)
	go func() { done <- p.wait() }()
	workers := map[string]bool{}
	look := func(file string, b []byte) {
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("the secret is in %s", file)
		}
	}
	var r result
	for over := false; !over; {
		select {
		case r = <-done:
			over = true
		case <-time.After(5 * time.Millisecond):
		}
		found, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			t.Fatal(err)
		}
		for _, proc := range found {
			if pid := filepath.Base(proc); pid != launcher && parentOf(pid) != launcher {
				continue
			}
			for _, name := range []string{"/cmdline", "/environ"} {
				b, err := os.ReadFile(proc + name)
				if err != nil {
					continue // it has ended
				}
				look(proc+name, b)
				if name == "/environ" && bytes.Contains(b, []byte("GVW_SECRET_FD=")) {
					workers[proc] = true
				}
			}
		}
		for proc := range workers {
			pid, _ := strconv.Atoi(filepath.Base(proc)) // digits
			if f := statOf(pid); len(workers) < 2 || len(f) == 0 || f[0] != "T" {
				continue
			}
			if stopped, err := os.FindProcess(pid); err != nil || stopped.Signal(sigCont) != nil {
				t.Fatalf("cannot continue %s: %v", proc, err)
			}
		}
	}
	r.ends(t, "gvw run", 0)
	if len(workers) != 2 {
		t.Errorf("%d workers were seen with a descriptor for the secret, want 2", len(workers))
	}
	look("stdout", []byte(r.stdout))
	look("stderr", []byte(r.stderr))
	files, err := filepath.Glob(logs + "/*")
	if err != nil || len(files) != 3 {
		t.Fatalf("the logs are %v, %v", files, err)
	}
	for _, file := range append(files, filepath.Join(k.dir, "m")) {
		look(file, []byte(readFile(t, file)))
	}
	if log := readFile(t, filepath.Join(logs, "server.log")); !strings.Contains(log, "with a secret") {
		t.Errorf("the server of gvw run has no secret:\n%s", log)
	}
}
