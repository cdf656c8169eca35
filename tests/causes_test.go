// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// causeJob is a job of three ranks whose server writes reports of faults.
type causeJob struct {
	t      *testing.T
	dir    string
	port   string
	server *process
	parts  []string
	ranks  [3]*process
}

// newCauseJob starts the server of a job.
func newCauseJob(t *testing.T, options ...string) *causeJob {
	t.Helper()
	j := &causeJob{t: t, dir: t.TempDir(), port: freePort(t)}
	j.parts = shards(t, j.dir, writeFile(t, filepath.Join(j.dir, "s.vw"), recoveryData(t)), len(j.ranks))
	if err := os.Mkdir(filepath.Join(j.dir, "faults"), 0o700); err != nil {
		t.Fatal(err)
	}
	j.serve(options...)
	return j
}

// serve starts the server.
func (j *causeJob) serve(options ...string) {
	j.t.Helper()
	j.server = start(j.t, j.dir, serverBin, append([]string{"--nondaemon", "--bind", "127.0.0.1", "--port", j.port, "--fault_dir", "faults"}, options...)...)
	waitFor(j.t, "the server to listen on port "+j.port, func() bool { return dialable("127.0.0.1:" + j.port) })
}

// rank starts a rank with a plan for GVW_FAULT. Each step takes at least 100 ms.
func (j *causeJob) rank(rank int, plan string, options ...string) {
	j.t.Helper()
	if plan == "" {
		plan = "work:1,delay:100ms"
	}
	args := append(clusterArgs(j.port, 6, rank, len(j.ranks)), "-d", j.parts[rank], "-f", fmt.Sprint("model.", rank), "--run_id", "one", "--bind", "127.0.0.1",
		"--loss_function", "logistic", "--hybrid", "2:40", "-b", "12", "--heartbeat", "200ms", "--lost_after", "4s", "--stall_timeout", "20s")
	for option, value := range map[string]string{"--on_loss": "abort", "--start_timeout": "30s"} {
		if !slices.Contains(options, option) {
			args = append(args, option, value)
		}
	}
	j.ranks[rank] = startWith(j.t, j.dir, nil, []string{"GVW_FAULT=" + plan}, gvwBin, append(args, options...)...)
}

// wired reports whether the job runs.
func (j *causeJob) wired() bool {
	st, err := client.Status(j.t.Context(), nil, "127.0.0.1:"+j.port, nil)
	return err == nil && len(st.Jobs) == 1 && st.Jobs[0].State == "wired"
}

// others waits until all ranks but one have joined. A rank that comes after the failure of another one is told in other words.
func (j *causeJob) others() {
	j.t.Helper()
	waitFor(j.t, "the other ranks to join", func() bool {
		st, err := client.Status(j.t.Context(), nil, "127.0.0.1:"+j.port, nil)
		return err == nil && slices.ContainsFunc(st.Jobs, func(job protocol.JobStatus) bool { return job.Joined == len(j.ranks)-1 })
	})
}

// reported waits for a report about a rank, and checks the beginning of its line.
func (j *causeJob) reported(rank int, line string) {
	j.t.Helper()
	if j.t.Failed() {
		return // there may be none
	}
	var seen []string
	waitFor(j.t, "a report of the cause", func() bool {
		names, err := filepath.Glob(filepath.Join(j.dir, "faults", "*.json"))
		if err != nil {
			j.t.Fatal(err)
		}
		seen = nil
		for _, name := range names {
			var r server.FaultReport
			if err := json.Unmarshal([]byte(readFile(j.t, name)), &r); err != nil {
				j.t.Fatalf("%s: %v", name, err)
			}
			if r.Cause.Rank == rank && strings.Contains(r.Cause.Line, line) {
				return true
			}
			seen = append(seen, r.Cause.Line)
		}
		return len(seen) > 0
	})
	if len(seen) > 0 {
		j.t.Errorf("got the causes\n%s\nwant rank %d, %q", strings.Join(seen, "\n"), rank, line)
	}
}

// named checks that the last line of a rank names the cause.
func (j *causeJob) named(rank, code int, lines ...string) {
	j.t.Helper()
	j.ranks[rank].wait().ends(j.t, fmt.Sprint("rank ", rank), code, lines...)
}

// TestCausesOfRealProcesses injects faults into processes. The report of the server and the last lines of the other ranks
// name the rank and the cause. A rank is lost after 4 s of silence, and each rank ends within the limit of its process.
func TestCausesOfRealProcesses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, plan, option, line string
		code                     int // of the other ranks
	}{
		{"killed", "work:5,kind:kill", "", "ended without a report: its process was killed or has crashed", 3},
		{"stopped", "work:5,kind:stop", "", "while the kernel of its host answers: its process is stopped, or gets no processor time", 3},
		{"full disk", "", "-p /dev/full", "has a full disk", 3},
		{"bad data", "", "-d bad.gz", "has bad data", 3},
		{"told to stop", "sigterm", "", "was told to stop", 3}, // by the test, while the job runs
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			j := newCauseJob(t)
			writeFile(t, filepath.Join(j.dir, "bad.gz"), "1 | this is not compressed\n")
			plan := c.plan
			if plan == "sigterm" {
				plan = ""
			}
			j.rank(0, "")
			j.rank(2, "")
			j.others()
			j.rank(1, plan, strings.Fields(c.option)...)
			if c.plan == "sigterm" {
				waitFor(t, "the job to run", j.wired)
				if err := j.ranks[1].cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
			}
			j.named(0, c.code, c.line)
			j.named(2, c.code, c.line)
			j.reported(1, c.line)
		})
	}
}

// TestLogsOfRanks: the ranks send their logs to the server. gvw jobs shows the last lines of a rank that has failed, in the form
// of its log, after the end of the job. A rank without the option sends none.
func TestLogsOfRanks(t *testing.T) {
	t.Parallel()
	j := newCauseJob(t)
	writeFile(t, filepath.Join(j.dir, "bad.gz"), "1 | this is not compressed\n")
	j.rank(0, "", "--log_to_server")
	j.rank(2, "")
	j.others()
	j.rank(1, "", "--log_to_server", "--log_format", "json", "-d", "bad.gz")
	j.named(0, 3, "has bad data")
	j.named(2, 3, "has bad data")
	j.reported(1, "has bad data")
	logs := func(options ...string) string {
		t.Helper()
		r := run(t, j.dir, gvwBin, append([]string{"jobs", "--span_server", "127.0.0.1", "--span_server_port", j.port, "--logs", "6/one"}, options...)...)
		if r.code != 0 {
			t.Errorf("gvw jobs %q: exit code %d\n%s", options, r.code, r.stderr)
		}
		return r.stdout
	}
	const reason = `"level":"ERROR","msg":"this rank gives up","rank":1,"error":"`
	if got := logs("--rank", "1", "--lines", "1"); strings.Count(got, "\n") > 2 || !strings.Contains(got, reason) || !strings.Contains(got, "bad.gz") {
		t.Errorf("the last line of rank 1 is %q", got)
	}
	if got := logs(); !strings.Contains(got, "rank 1\n") || strings.Contains(got, "rank 2\n") {
		t.Errorf("all logs are %q, want those of the ranks with the option", got)
	}
	if got := logs("--rank", "2"); !strings.Contains(got, "its ranks send them with --log_to_server") {
		t.Errorf("of a rank without the option: %q", got)
	}
	if got := logs("--rank", "1", "--json"); !strings.Contains(got, `"rank": 1`) || !json.Valid([]byte(got)) {
		t.Errorf("as JSON: %q", got)
	}
}

// TestCauseOfAnUnreachableServer: the server is killed. No report can come of that, so each rank names the server itself.
func TestCauseOfAnUnreachableServer(t *testing.T) {
	t.Parallel()
	j := newCauseJob(t)
	for rank := range j.ranks {
		j.rank(rank, "")
	}
	waitFor(t, "the job to run", j.wired)
	if err := j.server.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for rank := range j.ranks {
		j.named(rank, 3, "127.0.0.1:"+j.port)
	}
}

// TestCausesAfterARestartOfTheServer: the server is killed and started again while a job runs, with its journal or without. A
// job that ends at a loss names the server. One that recovers goes on; when one of its ranks is killed then, the others and the
// report name that rank, and not the restart.
func TestCausesAfterARestartOfTheServer(t *testing.T) {
	t.Parallel()
	for name, journal := range map[string][]string{"journal": {"--state", "journal", "--lost_after", "4s"}, "no journal": {"--lost_after", "4s"}} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			t.Run("abort", func(t *testing.T) {
				t.Parallel()
				j := newCauseJob(t, journal...)
				for rank := range j.ranks {
					j.rank(rank, "")
				}
				waitFor(t, "the job to run", j.wired)
				j.restart(journal...)
				for rank := range j.ranks {
					j.named(rank, 3, "with the server 127.0.0.1:"+j.port+": it ended the connection", "it has ended or was restarted")
				}
			})
			t.Run("wait", func(t *testing.T) {
				t.Parallel()
				j := newCauseJob(t, journal...)
				for rank := range j.ranks {
					j.rank(rank, "work:1,delay:300ms", "--on_loss", "wait", "--replace_timeout", "1s")
				}
				waitFor(t, "the job to run", j.wired)
				j.restart(journal...)
				waitFor(t, "all ranks to reconnect", func() bool {
					st, err := client.Status(t.Context(), nil, "127.0.0.1:"+j.port, nil)
					return err == nil && len(st.Jobs) == 1 && st.Jobs[0].Joined == len(j.ranks)
				})
				if err := j.ranks[1].cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				for _, rank := range []int{0, 2} {
					j.named(rank, 3, "rank 1 (127.0.0.1) was lost: ", "and not replaced within 1s")
					if last := tail(j.ranks[rank].res.stderr, 1); !strings.Contains(last, "lost: connection closed") && !strings.Contains(last, "lost: silent for 4") {
						t.Errorf("rank %d names neither the end of the connection nor the silence: %s", rank, last)
					}
				}
				j.reported(1, "ended without a report: its process was killed or has crashed")
			})
		})
	}
}

// restart kills the server, and starts it again on its port.
func (j *causeJob) restart(options ...string) {
	j.t.Helper()
	if err := j.server.cmd.Process.Kill(); err != nil {
		j.t.Fatal(err)
	}
	j.server.wait()
	j.serve(options...)
}

// TestCauseOfWrongCredentials: a rank has a wrong secret, a certificate of another authority, or an expired one. The
// server cannot know its rank. The others wait in vain, and their cause names the missing rank, and the client that was
// refused.
func TestCauseOfWrongCredentials(t *testing.T) {
	t.Parallel()
	k, foreign := newKeyring(t), newKeyring(t)
	for name, c := range map[string]struct {
		server, rank, wrong []string
		line, own           string
	}{
		"secret":      {k.secret(), k.secret(), foreign.secret(), "rank 2 is missing: a client at 127.0.0.1 was refused", "secret"},
		"certificate": {k.tls("server"), k.tls("rank"), foreign.tls("rank"), "rank 2 is missing: a client at 127.0.0.1 was refused", "certificate"},
		"expired":     {k.tls("server"), k.tls("rank"), expired(t, k), "rank 2 has never joined", "expired"}, // it does not even try
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newCauseJob(t, c.server...)
			j.rank(2, "", c.wrong...)
			if r := j.ranks[2].wait(); r.code == 0 || !strings.Contains(tail(r.stderr, 1), c.own) {
				t.Errorf("the rank with wrong credentials: exit code %d\n%s", r.code, tail(r.stderr, 5))
			}
			for _, rank := range []int{0, 1} {
				j.rank(rank, "", append(c.rank, "--start_timeout", "10s")...)
			}
			for _, rank := range []int{0, 1} {
				if r := j.ranks[rank].wait(); r.code == 0 || !strings.Contains(r.stderr, c.line) {
					t.Errorf("rank %d: exit code %d\n%s", rank, r.code, tail(r.stderr, 10))
				}
			}
			j.reported(2, c.line)
		})
	}
}

// expired returns the options of a rank with an expired certificate of a keyring's authority.
func expired(t *testing.T, k keyring) []string {
	t.Helper()
	in := func(name string) string { return filepath.Join(k.dir, "keys", name) }
	read := func(name string) *pem.Block {
		b, _ := pem.Decode([]byte(readFile(t, in(name))))
		if b == nil {
			t.Fatalf("%s has no PEM block", name)
		}
		return b
	}
	ca, err := x509.ParseCertificate(read("ca.crt").Bytes)
	if err != nil {
		t.Fatal(err)
	}
	own, err := x509.ParseCertificate(read("rank.crt").Bytes)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.ParsePKCS8PrivateKey(read("ca.key").Bytes)
	if err != nil {
		t.Fatal(err)
	}
	own.NotBefore, own.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, own, ca, own.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "expired.crt")
	writeFile(t, name, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	return []string{"--tls_cert", name, "--tls_key", in("rank.key"), "--tls_ca", in("ca.crt")}
}

// TestCauseOfWantOfMemory: the kernel kills a rank for want of memory, and gvw run tells that from another SIGKILL. It
// needs a control group of its own.
func TestCauseOfWantOfMemory(t *testing.T) {
	t.Parallel()
	group, limitFile := "/sys/fs/cgroup/gvw-test-"+freePort(t), "memory.max"
	if _, err := os.Stat("/sys/fs/cgroup/memory/memory.limit_in_bytes"); err == nil {
		group, limitFile = strings.Replace(group, "cgroup/", "cgroup/memory/", 1), "memory.limit_in_bytes"
	}
	if err := os.Mkdir(group, 0o700); err != nil {
		t.Skipf("needs a control group: %v", err)
	}
	t.Cleanup(func() { waitFor(t, "the control group to be empty", func() bool { return os.Remove(group) == nil }) })
	if err := os.WriteFile(filepath.Join(group, limitFile), []byte("200000000"), 0o600); err != nil {
		t.Skipf("needs a control group that limits memory: %v", err)
	}
	// The program is the smallest process of the group by far until rank 1 reads an endless line.
	const program = "test $GVW_NODE = 0 && exec sleep 60; exec tail /dev/zero"
	r := run(t, t.TempDir(), "sh", "-c", `echo $$ > `+group+`/cgroup.procs && exec "$@"`, "sh", gvwBin, "run", "-n", "2", "--max_restarts", "0", "--", "sh", "-c", program)
	r.ends(t, "the run", 3, "rank 1 failed first", "out of memory, as the kernel reports")
}

// TestCausesOfRanksWithVectors: ranks of --malt, whose shared vectors have a job of their own, name the cause, too.
func TestCausesOfRanksWithVectors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, plan, option, line string }{
		{"killed", "exchange:3,kind:kill", "", "ended without a report: its process was killed or has crashed"},
		{"bad data", "", "-d bad.gz", "has bad data"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			j := newCauseJob(t)
			writeFile(t, filepath.Join(j.dir, "bad.gz"), "1 | this is not compressed\n")
			for _, rank := range []int{0, 2, 1} {
				plan, options := "", []string(nil)
				if rank == 1 {
					j.others()
					plan, options = c.plan, strings.Fields(c.option)
				}
				args := append(clusterArgs(j.port, 6, rank, len(j.ranks)), "-d", j.parts[rank], "-f", fmt.Sprint("model.", rank), "--run_id", "one", "--bind", "127.0.0.1",
					"--malt", "all", "--sync", "bsp", "--cb_size", "5", "--passes", "20", "-k", "--cache_file", fmt.Sprint("cache.", rank), "--holdout_off", "--heartbeat", "200ms", "--lost_after", "4s", "--on_loss", "abort")
				j.ranks[rank] = startWith(t, j.dir, nil, []string{"GVW_FAULT=" + plan}, gvwBin, append(args, options...)...)
			}
			j.named(0, 3, c.line)
			j.named(2, 3, c.line)
			j.reported(1, c.line)
		})
	}
}

// TestCauseOfASkippedCollective: a rank of another program skips a collective. The last line of gvw run names it.
func TestCauseOfASkippedCollective(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run(t, dir, gvwBin, "run", "-n", "3", "--log_dir", "logs", "--on_loss", "abort", "--", buildProgram(t, dir, "skips"))
	if r.code == 0 || !strings.Contains(tail(r.stderr, 1), "rank 1 (127.0.0.1) skipped all-reduce") || !strings.Contains(tail(r.stderr, 1), "(weights)") {
		t.Errorf("exit code %d\n%s", r.code, tail(r.stderr, 10))
	}
}
