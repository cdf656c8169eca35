// SPDX-License-Identifier: Apache-2.0

package kilonode

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/harness"
)

// patience bounds each wait: many times what it takes on a busy machine.
const patience = 10 * time.Minute

// lostAfter returns the silence after which a rank is lost. With hundreds of ranks for each processor one of them may not run
// for longer than the default of 10 s. A killed rank is noticed by the end of its connection, without this wait.
func lostAfter(ranks int) time.Duration {
	return max(10*time.Second, time.Duration(ranks)*60*time.Millisecond)
}

// server is a spanning_tree of its own.
type server struct {
	cmd  *exec.Cmd
	port string
	log  string // file
}

func startServer(t *testing.T) *server {
	t.Helper()
	s := &server{log: filepath.Join(t.TempDir(), "server.log")}
	log, err := os.Create(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s.cmd = exec.Command(filepath.Join(bin, "spanning_tree"), "--nondaemon", "--bind", "127.0.0.1", "--port", "0")
	s.cmd.Stderr = log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Signal(os.Interrupt) // it may have ended
		_ = s.cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server prints no port: %v", err)
	}
	s.port = strings.TrimSpace(line)
	return s
}

// at returns the time of the first line of the server's log that matches; zero: there is none.
// Lines have milliseconds.
func (s *server) at(t *testing.T, match string) time.Time {
	t.Helper()
	text, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^time=(\S+) .*` + match).FindSubmatch(text)
	if m == nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// job is a job whose killed ranks are started again.
type job struct {
	t     *testing.T
	dir   string
	id    int
	total int
	bits  string
	srv   *server
	ended sync.WaitGroup
	fail  context.CancelFunc

	mu      sync.Mutex
	ranks   []*exec.Cmd
	struck  map[*exec.Cmd]bool // processes that the test has killed
	restart int                // killed by the test
	givenUp int                // live processes that the server took for lost
	errs    []error
}

// startJob starts a process for each part. Rank i reads part.i and writes model.i.
func startJob(t *testing.T, srv *server, dir string, id, total int, bits string) *job {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	j := &job{t: t, dir: dir, id: id, total: total, bits: bits, srv: srv, fail: cancel, ranks: make([]*exec.Cmd, total), struck: map[*exec.Cmd]bool{}}
	for rank := range total {
		j.ended.Add(1)
		cmd, err := j.start(ctx, rank)
		if err != nil {
			cancel()
			t.Fatal(err)
		}
		go func() {
			defer j.ended.Done()
			j.watch(ctx, rank, cmd)
		}()
	}
	return j
}

// start starts a process of a rank.
func (j *job) start(ctx context.Context, rank int) (*exec.Cmd, error) {
	name := strconv.Itoa(rank)
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "gvw"),
		"--span_server", "127.0.0.1", "--span_server_port", j.srv.port, "--unique_id", strconv.Itoa(j.id),
		"--total", strconv.Itoa(j.total), "--node", name, "-d", "part."+name, "-f", "model."+name,
		"-b", j.bits, "--loss_function", "logistic", "--l2", "1", "--hybrid", "2:30", "--holdout_off", "--quiet", "--on_loss", "wait",
		"--lost_after", lostAfter(j.total).String())
	cmd.Dir = j.dir
	cmd.Stderr = &harness.Buffer{}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting rank %d: %w", rank, err)
	}
	j.ranks[rank] = cmd
	return cmd, nil
}

// exitLost is the status of a rank that the server took for lost. A launcher starts it again.
const exitLost = 3

// watch waits for the process of a rank, and starts another one in place of each that was killed or taken for lost.
func (j *job) watch(ctx context.Context, rank int, cmd *exec.Cmd) {
	for {
		err := cmd.Wait()
		j.mu.Lock()
		struck := j.struck[cmd]
		j.mu.Unlock()
		if err == nil || ctx.Err() != nil {
			return
		}
		if !struck && cmd.ProcessState.ExitCode() == exitLost {
			j.mu.Lock()
			j.givenUp++
			j.mu.Unlock()
			struck = true
		}
		if struck {
			if cmd, err = j.start(ctx, rank); err == nil {
				continue
			}
		}
		j.mu.Lock()
		j.errs = append(j.errs, fmt.Errorf("rank %d: %w: %s", rank, err, cmd.Stderr))
		j.mu.Unlock()
		j.fail() // the others would wait for it
		return
	}
}

// kill kills processes of ranks at once.
func (j *job) kill(ranks ...int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, rank := range ranks {
		cmd := j.ranks[rank]
		if err := cmd.Process.Signal(syscall.SIGKILL); err == nil && !j.struck[cmd] {
			j.struck[cmd] = true
			j.restart++
		}
	}
}

// wired waits until the server has wired all ranks, and returns when that was.
func (j *job) wired() (at time.Time) {
	j.t.Helper()
	match := fmt.Sprintf(`msg="job wired" job=%d `, j.id)
	if !harness.Until(patience, 20*time.Millisecond, func() bool {
		at = j.srv.at(j.t, match)
		return !at.IsZero() || j.failed()
	}) || j.failed() {
		j.check()
		j.t.Fatalf("job %d is not wired", j.id)
	}
	return at
}

func (j *job) failed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.errs) > 0
}

// check reports the first error of a rank.
func (j *job) check() {
	j.t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.errs) > 0 {
		j.t.Fatalf("job %d: %d ranks failed, the first: %v", j.id, len(j.errs), j.errs[0])
	}
}

// wait waits for all ranks and returns their model.
func (j *job) wait() []byte {
	j.t.Helper()
	j.ended.Wait()
	j.check()
	var model []byte
	for rank := range j.total {
		b, err := os.ReadFile(filepath.Join(j.dir, "model."+strconv.Itoa(rank)))
		if err != nil {
			j.t.Fatal(err)
		}
		if rank > 0 && !bytes.Equal(b, model) {
			j.t.Fatalf("job %d: the models of ranks 0 and %d differ", j.id, rank)
		}
		model = b
	}
	return model
}

// usage is what a process uses.
type usage struct {
	sockets int
	private int // bytes that no other process shares
}

// usageOf returns the usage of a process; zeros if it has ended.
func usageOf(pid int) (u usage) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	links, _ := filepath.Glob(filepath.Join(dir, "fd", "*")) // the pattern is right
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, "socket:") {
			u.sockets++
		}
	}
	u.private = kilobytes(dir, "smaps_rollup", "Private_Clean:", "Private_Dirty:") << 10
	return u
}

// kilobytes adds up fields of a file in /proc.
func kilobytes(dir, file string, fields ...string) (sum int) {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		for _, field := range fields {
			if rest, ok := strings.CutPrefix(line, field); ok {
				n, err := strconv.Atoi(strings.Fields(rest)[0])
				if err != nil {
					panic("BUG: " + line)
				}
				sum += n
			}
		}
	}
	return sum
}

// uses returns the server's largest resident size and its CPU time.
func (s *server) uses(t *testing.T) (peak int, cpu time.Duration) {
	t.Helper()
	dir := filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, err1 := strconv.Atoi(f[11])
	system, err2 := strconv.Atoi(f[12])
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	const tick = 10 * time.Millisecond // of all Linux systems that Go runs on
	return kilobytes(dir, "status", "VmHWM:") << 10, time.Duration(user+system) * tick
}
