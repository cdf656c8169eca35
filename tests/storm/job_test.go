// SPDX-License-Identifier: Apache-2.0

//go:build unix

package storm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/harness"
)

// patience is the time after which a job counts as hung: many times the normal one.
const patience = 3 * time.Minute

// outcome is the outcome of a job.
type outcome struct {
	disturbance
	code   int
	hung   bool
	struck bool
	model  []byte         // nil: none
	models map[int][]byte // with --on_loss shrink: that of each rank
	gone   []int          // likewise: ranks that the job has gone on without
	last   string         // the last line that the user saw
	took   time.Duration

	detected, resumed time.Duration // after the fault; 0: not seen
}

// run runs a job and disturbs it. mode is a value of --on_loss, or spares.
func run(t *testing.T, bin, data, dir, mode string, d disturbance) outcome {
	t.Helper()
	o := outcome{disturbance: d}
	args := []string{
		"run", "-n", strconv.Itoa(workers), "--log_dir", filepath.Join(dir, "logs"), "--",
		"-d", data, "--loss_function", "logistic", "--hybrid", "2:4", "-b", "16", "--l2", "1", "--quiet",
		"--heartbeat", "100ms", "--lost_after", "3s", "--stall_timeout", "3s",
	}
	model := filepath.Join(dir, "m")
	switch mode {
	case "shrink":
		args = slices.Insert(args, 1, "--max_restarts", "0")
		model += ".{rank}"
	case "spares":
		args = slices.Insert(args, 1, "--max_restarts", "0", "--spares", strconv.Itoa(spares))
	}
	args = append(args, "-f", model)
	if mode != "spares" { // modes in which ranks wait
		args = append(args, "--on_loss", mode)
	}
	if !d.shared {
		args = append(args, "--shm", "off")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env = append(os.Environ(), "GVW_FAULT="+d.plan)
	// The workers always end with the launcher, because their pipe ends.
	cmd.WaitDelay = 5 * time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var fault time.Time
	struck := make(chan time.Time, 1)
	if d.signal != "" {
		// A rank that has not joined is waited for, not lost.
		log := filepath.Join(dir, "logs", "server.log")
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			for firstOf(log, fmt.Sprintf("joined=%d ", workers), time.Time{}).IsZero() {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
			select {
			case <-stop:
			case <-time.After(d.after):
				struck <- signalRank(cmd.Process.Pid, d)
			}
		}()
	}
	err := cmd.Wait()
	o.took = time.Since(began)
	o.hung = ctx.Err() != nil
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		o.code = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("%v: %v", d, err)
	}
	select {
	case fault = <-struck:
	default:
		if d.signal != "" {
			break // the signal came too late
		}
		fault = firstOf(filepath.Join(dir, "logs", "rank-*.log"), `msg="fault: `, time.Time{})
	}
	o.struck = !fault.IsZero()
	if o.struck {
		server := filepath.Join(dir, "logs", "server.log")
		if at := firstOf(server, "level=(WARN|ERROR) ", fault); !at.IsZero() {
			o.detected = at.Sub(fault)
			if wired := firstOf(server, `msg="job wired"`, at); !wired.IsZero() {
				o.resumed = wired.Sub(fault)
			}
		}
	}
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	o.last = lines[len(lines)-1]
	if mode == "shrink" {
		o.leftBy(t, dir)
	} else {
		o.model = read(t, filepath.Join(dir, "m"))
	}
	return o
}

// read returns a file's content; nil: there is none.
func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return b
}

var without = regexp.MustCompile(`(?m)msg="job continued without a rank" .*rank=(\d+)`)

// leftBy reads the results of the ranks of a job that continues without lost ranks.
func (o *outcome) leftBy(t *testing.T, dir string) {
	t.Helper()
	o.models = map[int][]byte{}
	for rank := range workers {
		if b := read(t, filepath.Join(dir, fmt.Sprintf("m.%d", rank))); b != nil {
			o.models[rank], o.model = b, b
		}
	}
	for _, m := range without.FindAllSubmatch(read(t, filepath.Join(dir, "logs", "server.log")), -1) {
		rank, err := strconv.Atoi(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		o.gone = append(o.gone, rank)
	}
}

// signalRank signals the process of a rank of a launcher, and says when; never, if
// there is no such process.
func signalRank(launcher int, d disturbance) (at time.Time) {
	pid := harness.Find(func(p harness.Process) bool {
		return p.Parent() == launcher && p.Says(fmt.Sprintf("--node=%d", d.rank))
	})
	if pid == 0 {
		return at
	}
	sig := syscall.SIGKILL
	if d.signal == "STOP" {
		sig = syscall.SIGSTOP
	}
	at = time.Now()
	if syscall.Kill(int(pid), sig) != nil {
		return time.Time{}
	}
	return at
}

var stamp = regexp.MustCompile(`^time=(\S+) `)

// firstOf returns the time of the first line of logs that matches and is not before a time;
// zero: there is none. Logs have milliseconds.
func firstOf(pattern, match string, from time.Time) (first time.Time) {
	re := regexp.MustCompile(match)
	names, err := filepath.Glob(pattern)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			m := stamp.FindStringSubmatch(line)
			if m == nil || !re.MatchString(line) {
				continue
			}
			at, err := time.Parse(time.RFC3339Nano, m[1])
			if err != nil || at.Before(from.Truncate(time.Millisecond)) {
				continue
			}
			if first.IsZero() || at.Before(first) {
				first = at
			}
			break
		}
	}
	return first
}
