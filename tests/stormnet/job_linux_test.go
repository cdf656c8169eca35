// SPDX-License-Identifier: Apache-2.0

package stormnet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/harness"
)

// timeouts are the configured time-outs of a job. Their sum bounds the time from the last fault
// to the end of the job.
var timeouts = map[string]time.Duration{
	"lost_after":      3 * time.Second,
	"stall_timeout":   3 * time.Second,
	"file_timeout":    5 * time.Second,
	"replace_timeout": 15 * time.Second,
	"server_timeout":  10 * time.Second,
	"start_timeout":   15 * time.Second,
}

const (
	margin    = 5 * time.Second
	rankPorts = 26600 // first port on which ranks listen; the next ones are used if it is taken
	envScan   = "STORMNET_SCAN"
)

func itoa(n int) string { return strconv.Itoa(n) }

// job is a running job.
type job struct {
	*cluster
	scenario Scenario
	programs string // the folder of the two programs
	data     string // the folder of the parts that the ranks read
	began    time.Time

	mu       sync.Mutex
	server   *exec.Cmd
	attempts []*attempt
	spares   int // spare hosts in use
	wg       sync.WaitGroup
}

// attempt is a supervised rank on a host.
type attempt struct {
	Attempt
	cmd    *exec.Cmd
	stderr string
	model  string
}

// startServer starts the server, and can be called again to restart it.
func (j *job) startServer() {
	args := []string{"--nondaemon", "--bind", gatewayIP, "--port", gatewayPort}
	if j.scenario.Journal {
		args = append(args, "--grace", "1s", "--state", filepath.Join(j.disk(gateway), "journal"))
	}
	log, err := os.OpenFile(filepath.Join(j.dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		j.t.Error(err)
		return
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(j.programs, "spanning_tree"), args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		j.t.Error(err)
		return
	}
	j.mu.Lock()
	j.server = cmd
	j.mu.Unlock()
	harness.Until(time.Minute, 5*time.Millisecond, func() bool {
		c, err := net.DialTimeout("tcp", net.JoinHostPort(gatewayIP, gatewayPort), time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// start starts an attempt of a rank on a host.
func (j *job) start(rank, host int, spare bool) {
	a := &attempt{Attempt: Attempt{Rank: rank, Host: host, Spare: spare}}
	a.model = filepath.Join(j.disk(hostName(host)), "model")
	a.stderr = filepath.Join(j.dir, fmt.Sprintf("rank-%d.h%d.log", rank, host))
	plan := []string{"work:1,delay:200ms,attempt:any"}
	for _, f := range j.scenario.Faults {
		if p := f.planned(); p != "" {
			plan = append(plan, p)
		}
	}
	args := []string{"netns", "exec", hostName(host), "env", "GVW_FAULT=" + strings.Join(plan, ";")}
	mode := "abort"
	if !j.scenario.Abort {
		args = append(args, filepath.Join(j.programs, "gvw"), "supervise", "--max_restarts", itoa(j.scenario.restarts()), "--")
		mode = "wait"
	}
	args = append(args, filepath.Join(j.programs, "gvw"), "-d", filepath.Join(j.data, "part."+itoa(rank)), "-f", a.model,
		"--loss_function", "logistic", "--hybrid", "2:4", "-b", "12", "--l2", "1", "--quiet", "--shm", "off",
		"--run_id", "storm", "--bind", hostIP(host), "--port_range", fmt.Sprintf("%d-%d", rankPorts, rankPorts+hosts),
		"--span_server", gatewayIP, "--unique_id", "6", "--total", itoa(ranks), "--node", itoa(rank),
		"--on_loss", mode, "--heartbeat", "200ms")
	for name, d := range timeouts {
		if name != "replace_timeout" || !j.scenario.Abort {
			args = append(args, "--"+name, d.String())
		}
	}
	if !j.scenario.Abort {
		args = append(args, "--run_dir", filepath.Join(j.disk(everyone), "runs"))
		if j.scenario.Checkpoint {
			args = append(args, "--checkpoint", filepath.Join(j.disk(everyone), "checkpoint"))
		}
	}
	log, err := os.Create(a.stderr)
	if err != nil {
		j.t.Error(err)
		return
	}
	defer log.Close()
	a.cmd = exec.Command("ip", args...)
	a.cmd.Stderr = log
	a.cmd.Dir = j.dir
	if err := a.cmd.Start(); err != nil {
		j.t.Error(err)
		return
	}
	j.mu.Lock()
	j.attempts = append(j.attempts, a)
	j.mu.Unlock()
	j.wg.Go(func() {
		err := a.cmd.Wait()
		j.mu.Lock()
		defer j.mu.Unlock()
		a.Ended = true
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			a.Code = exit.ExitCode()
		} else if err != nil {
			j.t.Error(err)
		}
	})
}

// process returns the process of the first rank on a host: the child of its supervisor, or 0
// without a child.
func (j *job) process(host int) int {
	j.mu.Lock()
	var top int
	for _, a := range j.attempts {
		if a.Host == host && !a.Ended {
			top = a.cmd.Process.Pid
		}
	}
	j.mu.Unlock()
	if top == 0 || j.scenario.Abort {
		return top
	}
	return int(harness.Find(func(p harness.Process) bool { return p.Parent() == top }))
}

// reported reports whether the newest process of a host has written to its log: its main function runs. Each
// process begins by naming the faults that it is given.
func (j *job) reported(host int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, a := range slices.Backward(j.attempts) {
		if a.Host == host {
			info, err := os.Stat(a.stderr)
			return err == nil && info.Size() > 0
		}
	}
	return true // the host has no process
}

// settled reports whether every attempt that the end of the job depends on has ended.
func (j *job) settled() bool {
	failed := j.scenario.failed()
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, a := range j.attempts {
		if !a.Ended && !failed[a.Host] {
			return false
		}
	}
	return true
}

// finishedRanks reports whether every rank has an attempt that ended well.
func (j *job) finishedRanks() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	var done [ranks]bool
	for _, a := range j.attempts {
		if a.Ended && a.Code == 0 {
			done[a.Rank] = true
		}
	}
	return done == [ranks]bool{true, true, true, true}
}

// run runs a scenario in the process's own namespaces.
func run(t *testing.T, dir, programs, data string, s Scenario, length time.Duration) Outcome {
	j := &job{cluster: newCluster(t, dir, s), scenario: s, programs: programs, data: data}
	j.startServer()
	j.began = time.Now()
	for rank := range ranks {
		j.start(rank, rank, false)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var faults sync.WaitGroup
	for i := range s.Faults {
		faults.Go(func() { j.strike(ctx, i) })
	}
	limit := s.last() + length + margin
	for _, d := range timeouts {
		limit += d
	}
	if s.withoutServer() { // every attempt waits for it
		limit += time.Duration(s.restarts()) * timeouts["start_timeout"]
	}
	o := Outcome{Scenario: s}
	o.Hung = !harness.Until(limit, 10*time.Millisecond, func() bool {
		return j.settled() && (j.finishedRanks() || s.Abort || time.Since(j.began) > s.last()+3*time.Second)
	})
	o.Seconds = time.Since(j.began).Seconds()
	cancel()
	j.thaw()
	faults.Wait()
	failed := s.failed()
	j.mu.Lock()
	for _, a := range j.attempts {
		if !a.Ended {
			a.Lost = failed[a.Host]
			a.Attempt.Ended = false
			_ = a.cmd.Process.Signal(os.Kill) // it may end now
		}
	}
	lost := make(map[*attempt]bool)
	for _, a := range j.attempts {
		lost[a] = !a.Ended
	}
	j.mu.Unlock()
	signal(j.server.Process.Pid, 9)
	// The supervised processes die with their supervisors.
	j.wg.Wait()
	for _, a := range j.attempts {
		a.Ended = !lost[a]
		a.Last = lastLine(a.stderr)
		if b, err := os.ReadFile(a.model); err == nil {
			sum := sha256.Sum256(b)
			a.Attempt.Model = hex.EncodeToString(sum[:])
		}
		o.Attempts = append(o.Attempts, a.Attempt)
	}
	return o
}

// lastLine returns the last line of a file.
func lastLine(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[len(lines)-1]
}
