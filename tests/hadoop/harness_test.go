// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/hadoop/cluster"
	"github.com/gvw-project/gvw/tests/harness"
)

// The programs and the cluster, which all tests share.
var shared struct {
	programs string // folder of gvw and spanning_tree
	dir      string // for everything else
	cluster  *cluster.Cluster
	why      string // why there is no cluster
}

func TestMain(m *testing.M) {
	code, err := startAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests/hadoop:", err)
		code = 1
	}
	os.Exit(code)
}

// nodes is how many NodeManagers there are, and nodeMB what each has: room for an
// ApplicationMaster, four maps and their copies, on two of them too.
const (
	nodes  = 3
	nodeMB = 1280
)

func startAndRun(m *testing.M) (code int, err error) {
	if os.Getenv("GVW_HADOOP") != "1" {
		shared.why = "needs a real Hadoop: make test-hadoop starts one (Java 17, Maven, 100 MB of jars, minutes)"
		return m.Run(), nil
	}
	ctx := context.Background()
	java, err := cluster.FindJava(ctx, os.Getenv("JAVA_HOME"))
	if err = errors.Join(err, cluster.FindMaven()); err != nil {
		shared.why = err.Error()
		return m.Run(), nil
	}
	cache := os.Getenv("GVW_HADOOP_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return 0, fmt.Errorf("where are the jars to be kept? GVW_HADOOP_CACHE says it: %w", err)
		}
		cache = filepath.Join(base, "gvw")
	}
	fetching, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	jars, err := cluster.Fetch(fetching, cache, java)
	if err != nil {
		shared.why = fmt.Sprintf("the jars of Hadoop cannot be had: %v", err)
		return m.Run(), nil
	}
	if shared.dir, err = os.MkdirTemp("", "gvw-hadoop-"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(shared.dir)) }()
	if shared.programs, err = harness.Programs(ctx, os.Getenv(harness.EnvPrograms), shared.dir, "gvw", "spanning_tree"); err != nil {
		return 0, err
	}
	me, err := user.Current()
	if err != nil {
		return 0, err
	}
	c, err := cluster.Start(ctx, cluster.Config{
		Dir: filepath.Join(shared.dir, "cluster"), Jars: jars, Java: java,
		Nodes: nodes, NodeMB: nodeMB, User: me.Username,
	})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	shared.cluster = c
	return m.Run(), nil
}

// hadoop returns the cluster, or skips the test.
func hadoop(t *testing.T) *cluster.Cluster {
	t.Helper()
	if shared.cluster == nil {
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("REQUIRE_ALL=1, and ", shared.why)
		}
		t.Skip(shared.why)
	}
	return shared.cluster
}

// input is a folder of HDFS with four files, and the same files here.
type input struct {
	hdfs  string
	dir   string // part.0 to part.3, by the ranks that they will have
	lines int
}

// inputs has the folders that exist, by name.
var inputs = struct {
	sync.Mutex
	all map[string]*input
}{all: map[string]*input{}}

// smallInput has a thousand examples.
func smallInput(t *testing.T) *input {
	t.Helper()
	return putInput(t, "small", gunzip(t, "../testdata/golden/s1000.vw.gz"))
}

// gunzip returns the content of a compressed file.
func gunzip(t *testing.T, name string) string {
	t.Helper()
	text, err := harness.Gunzip(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// putInput cuts text into four files of falling size, as Hadoop numbers its splits.
func putInput(t *testing.T, name, text string) *input {
	t.Helper()
	c := hadoop(t)
	inputs.Lock()
	defer inputs.Unlock()
	if in := inputs.all[name]; in != nil {
		return in
	}
	dir := filepath.Join(shared.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	in := &input{hdfs: "/in-" + name, dir: dir}
	lines := strings.SplitAfter(text, "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	in.lines = len(lines)
	// Parts of 28, 26, 24 and 22 per cent: their sizes fall, whatever the lines are.
	total, from := len(text), 0
	for rank, share := range []int{28, 26, 24, 22} {
		var part strings.Builder
		for from < len(lines) && (rank == 3 || part.Len() < total*share/100) {
			part.WriteString(lines[from])
			from++
		}
		name := fmt.Sprint("part.", rank)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(part.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := c.Put(t.Context(), in.hdfs+"/"+name, []byte(part.String())); err != nil {
			t.Fatal(err)
		}
	}
	inputs.all[name] = in
	return in
}

// want returns the model that gvw run makes of the same splits.
func (in *input) want(t *testing.T, options ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"run", "-n", "4", "--", "-d", filepath.Join(in.dir, "part.{rank}"), "-f", "model", "--cache_file", "c", "--quiet"}, options...)
	cmd := exec.Command(filepath.Join(shared.programs, "gvw"), args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gvw run: %v\n%s", err, out)
	}
	model, err := os.ReadFile(filepath.Join(dir, "model"))
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// submission is a running call of mapscript.sh.
type submission struct {
	t    *testing.T
	c    *cluster.Cluster
	out  string // the job's output
	dir  string // working directory, which gets the model and the log
	port string // of its server

	cmd    *exec.Cmd
	stderr harness.Buffer
	stdout harness.Buffer
	done   chan struct{}
	err    error
	code   int
	took   time.Duration
}

// jobLimit bounds a job in order to detect a hang; it is not a measurement.
const jobLimit = 6 * time.Minute

// folders and ports number the folders of HDFS, and the ports, that tests use.
var folders, ports atomic.Int64

// sparePort returns a port that no other test uses at the same time.
func sparePort(c *cluster.Cluster) string { return strconv.Itoa(c.SparePort(int(ports.Add(1)))) }

// submit runs mapscript.sh over in, with four maps.
func submit(t *testing.T, in string, args ...string) *submission {
	t.Helper()
	return submitWith(t, filepath.Join(shared.programs, "gvw"), in, args...)
}

// submitWith is submit with the given program as gvw.
func submitWith(t *testing.T, gvw, in string, args ...string) *submission {
	t.Helper()
	return submitTo(t, gvw, fmt.Sprint("/out-", folders.Add(1)), in, args...)
}

// submitTo is submitWith with the given output.
func submitTo(t *testing.T, gvw, out, in string, args ...string) *submission {
	t.Helper()
	return submitAs(t, "", gvw, out, in, args...)
}

// submitAs is submitTo as this user of HDFS; "": the owner.
func submitAs(t *testing.T, user, gvw, out, in string, args ...string) *submission {
	t.Helper()
	c := hadoop(t)
	s := &submission{t: t, c: c, out: out, dir: t.TempDir(), port: sparePort(c), done: make(chan struct{})}
	script, err := filepath.Abs("../../scripts/mapscript.sh")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), jobLimit)
	s.cmd = exec.CommandContext(ctx, "bash", append([]string{script, s.out, in, "4", "--port", s.port, "--server", "127.0.0.1"}, args...)...)
	s.cmd.Dir = s.dir
	s.cmd.Env = append(append(s.cmd.Environ(), c.Env()...), "GVW="+gvw,
		"SPANNING_TREE="+filepath.Join(shared.programs, "spanning_tree"), "TMPDIR="+s.dir)
	if user != "" {
		s.cmd.Env = append(s.cmd.Env, "HADOOP_USER_NAME="+user)
	}
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) } // mapscript.sh then kills its job
	s.cmd.WaitDelay = 15 * time.Second
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	go func() { // wait, which the test's cleanup calls, waits for it
		defer close(s.done)
		defer cancel()
		s.err = s.cmd.Wait()
		s.code, s.took = s.cmd.ProcessState.ExitCode(), time.Since(began)
	}()
	t.Cleanup(func() {
		cancel()
		<-s.done
		if t.Failed() {
			s.show()
		}
	})
	return s
}

// show logs the details of a failed test.
func (s *submission) show() {
	s.t.Logf("mapscript.sh %s:\n%s%s", s.out, s.stdout.String(), s.stderr.String())
	for _, pattern := range []string{"mapscript.*/server.log", "mapscript.*/client.log"} {
		files, err := filepath.Glob(filepath.Join(s.dir, pattern))
		if err != nil || len(files) == 0 {
			continue
		}
		text, err := os.ReadFile(files[0])
		if err == nil {
			s.t.Logf("%s:\n%s", filepath.Base(files[0]), text[max(0, len(text)-6000):])
		}
	}
	app, err := s.c.App(context.Background(), "gvw "+s.out)
	if err != nil {
		return
	}
	attempts, err := s.c.Attempts(context.Background(), app.Job())
	s.t.Logf("%s %s %s: %v", app.ID, app.State, app.Final, err)
	for _, a := range attempts {
		s.t.Logf("%s %s %s %d-%d: %s", a.ID, a.State, a.Node, a.Start-app.Started, a.Finish-app.Started, a.Diagnostics)
		if text, err := s.c.Log(a.Container, "stderr"); err == nil {
			s.t.Logf("%s", text[max(0, len(text)-2500):])
		}
	}
}

// wait waits for the end of mapscript.sh and checks its exit code.
func (s *submission) wait(code int) {
	s.t.Helper()
	<-s.done
	if s.code != code {
		s.t.Fatalf("mapscript.sh ended with exit code %d after %v, want %d: %v", s.code, s.took.Round(time.Millisecond), code, s.err)
	}
	s.t.Logf("mapscript.sh took %.1f s", s.took.Seconds())
}

// app returns the application of the job.
func (s *submission) app() cluster.App {
	s.t.Helper()
	app, err := s.c.App(s.t.Context(), "gvw "+s.out)
	if err != nil {
		s.t.Fatal(err)
	}
	return app
}

// attempts returns the attempts of the job's maps.
func (s *submission) attempts() []cluster.Attempt {
	s.t.Helper()
	var all []cluster.Attempt
	s.eventually("the attempts of the job", jobLimit, func() bool {
		app, err := s.c.App(s.t.Context(), "gvw "+s.out)
		if err == nil {
			all, err = s.c.Attempts(s.t.Context(), app.Job())
		}
		return err == nil
	})
	return all
}

// counters returns the counters of a group of the ended job. It tries again, because for an
// instant a job that has ended is neither at its ApplicationMaster nor in the history.
func (s *submission) counters(group string) (all map[string]int64) {
	s.t.Helper()
	s.eventually("the counters of the job", jobLimit, func() bool {
		var err error
		all, err = s.c.Counters(s.t.Context(), s.app().Job(), group)
		return err == nil
	})
	return all
}

// eventually waits until ok returns true, while the job runs and limit has not passed.
func (s *submission) eventually(what string, limit time.Duration, ok func() bool) {
	s.t.Helper()
	if !harness.Until(limit, 100*time.Millisecond, ok) {
		s.t.Fatalf("waited %v for %s", limit, what)
	}
}

// said checks that mapscript.sh's stderr has the words.
func (s *submission) said(want ...string) {
	s.t.Helper()
	for _, w := range want {
		if !strings.Contains(s.stderr.String(), w) {
			s.t.Errorf("mapscript.sh has not said %q", w)
		}
	}
}

// model checks the model in the job's output and its local copy.
func (s *submission) model(want []byte) {
	s.t.Helper()
	got, err := s.c.Get(s.t.Context(), s.out+"/model")
	if err != nil {
		s.t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		s.t.Errorf("the model of %s has %d bytes that are not those of gvw run (%d)", s.out, len(got), len(want))
	}
	local, err := os.ReadFile(filepath.Join(s.dir, "model"))
	if err != nil || !bytes.Equal(local, want) {
		s.t.Errorf("the copy that mapscript.sh has fetched is another one: %v", err)
	}
}

// mapper returns the process of an attempt's gvw.
func (s *submission) mapper(rank, number int) (pid int) {
	s.t.Helper()
	s.eventually(fmt.Sprintf("attempt %d of rank %d to run", number, rank), time.Minute, func() bool {
		pid = s.findMapper(rank, number)
		return pid != 0
	})
	return pid
}

// findMapper finds the process by its environment.
func (s *submission) findMapper(rank, number int) int {
	want := fmt.Sprintf("_m_%06d_%d", rank, number)
	return int(harness.Find(func(p harness.Process) bool {
		return p.Says("mapper") && strings.HasSuffix(p.Args()[0], "gvw") && p.Env("gvw_span_server_port") == s.port && strings.HasSuffix(p.Env("mapreduce_task_attempt_id"), want)
	}))
}

// jobs returns the output of gvw jobs for the job's server.
func (s *submission) jobs() string {
	out, err := exec.Command(filepath.Join(shared.programs, "gvw"), "jobs", "--span_server", "127.0.0.1", "--span_server_port", s.port).Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// running waits until the ranks work together and all of them are in that pass, or a later one.
func (s *submission) running(pass int) {
	s.t.Helper()
	wired := regexp.MustCompile(`wired +4/4 +(\d+)`) // or 3-4: some are in the next one
	s.eventually(fmt.Sprintf("the ranks to work together, in pass %d", pass), jobLimit, func() bool {
		at := wired.FindStringSubmatch(s.jobs())
		if at == nil {
			return false
		}
		n, err := strconv.Atoi(at[1])
		return err == nil && n >= pass
	})
}
