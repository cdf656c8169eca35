// SPDX-License-Identifier: Apache-2.0

//go:build unix

package launch

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// If a worker leaves a process behind that holds its output open, Run waits for the output no
// longer than WaitDelay. With EmptyStdin the worker's Stdin is empty.
func TestOutputOfALeftProcess(t *testing.T) {
	var out bytes.Buffer
	cmd := exec.Command("sh", "-c", "cat; sleep 1000 & echo $! $GVW_LAUNCHER_FD $GVW_SECRET_FD")
	cmd.Stdout, cmd.WaitDelay = &out, time.Second
	results, root, err := Job{EmptyStdin: true, Secret: []byte("a secret")}.Run(t.Context(), []*exec.Cmd{cmd})
	if err != nil || root != -1 || results[0].Code != 0 {
		t.Errorf("got %+v, root %d, %v: want success", results, root, err)
	}
	words := strings.Fields(out.String())
	if len(words) != 3 || words[1] != "3" || words[2] != "4" {
		t.Fatalf("got %q: want a process number, descriptors 3 and 4, and nothing from Stdin", out.String())
	}
	if pid, err := strconv.Atoi(words[0]); err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Errorf("cannot kill the process %s that was left behind", words[0])
	}
}

// A worker that has ended first is the cause, although a process that it has left behind holds its output open.
func TestTheFirstEndIsTheCauseWhateverHoldsTheOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "left")
	cmds := workers("after "+file+" 9", "leave 7 "+file)
	cmds[1].Stdout, cmds[1].WaitDelay = io.Discard, time.Minute
	results, root, err := Job{Symptom: func(int) bool { return true }, Settle: time.Minute}.Run(t.Context(), cmds)
	if err != nil || root != 1 || results[1].Code != 7 || results[1].After >= results[0].After {
		t.Errorf("root %d, %+v; %v, want rank 1", root, results, err)
	}
}

// slow is a writer whose first write takes its time.
type slow struct {
	takes   time.Duration
	written int
}

func (s *slow) Write(b []byte) (int, error) {
	time.Sleep(s.takes)
	s.takes = 0
	s.written += len(b)
	return len(b), nil
}

// A worker that has ended while its output is being written loses none of it, however long that takes.
func TestOutputToASlowWriter(t *testing.T) {
	const n = 60000 // a pipe has room for it, and a copy takes more than one write
	out := &slow{takes: time.Second}
	cmd := exec.Command("sh", "-c", "head -c 60000 /dev/zero")
	cmd.Stdout, cmd.WaitDelay = out, 500*time.Millisecond
	results, root, err := Job{}.Run(t.Context(), []*exec.Cmd{cmd})
	if err != nil || root != -1 || out.written != n {
		t.Errorf("got %d bytes, want %d; root %d, %+v, %v", out.written, n, root, results, err)
	}
}

// gate is a writer that waits for a file.
type gate struct {
	file string
	bytes.Buffer
}

func (g *gate) Write(b []byte) (int, error) {
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(g.file); err == nil {
			return g.Buffer.Write(b)
		}
		if time.Now().After(end) {
			return 0, errors.New("waited a minute for " + g.file)
		}
	}
}

// A worker that was killed is restarted although the reader of its output pauses. All output arrives, in order.
func TestRestartWhileTheReaderPauses(t *testing.T) {
	out := &gate{file: filepath.Join(t.TempDir(), "open")}
	cmd := exec.Command("sh", "-c", `echo $`+EnvAttempt+`; if [ $`+EnvAttempt+` = 1 ]; then kill -9 $$; fi; : >`+out.file)
	cmd.Stdout, cmd.WaitDelay = out, 2*time.Second
	results, root, err := Job{Restarts: 1}.Run(t.Context(), []*exec.Cmd{cmd})
	if err != nil || root != -1 || results[0].Attempt != 2 || out.String() != "1\n2\n" {
		t.Errorf("got %q, root %d, %+v, %v: want both attempts", out.String(), root, results, err)
	}
}

// The output of a worker that has ended is written late. If that fails, the worker has failed.
func TestLateOutputThatCannotBeWritten(t *testing.T) {
	failed := errors.New("no room")
	cmd := exec.Command("sh", "-c", "echo")
	cmd.Stdout, cmd.WaitDelay = writerFunc(func(b []byte) (int, error) {
		time.Sleep(1500 * time.Millisecond)
		return 0, failed
	}), time.Second
	results, root, err := Job{}.Run(t.Context(), []*exec.Cmd{cmd})
	if err != nil || root != 0 || !errors.Is(results[0].Err, failed) {
		t.Errorf("root %d, %+v, %v: want the error %v", root, results, err, failed)
	}
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// A process that was left behind and writes on does not keep Run from returning, however slow the writer is: after what may
// be the worker's own output, the delay counts during writes, too.
func TestOutputOfALeftProcessToASlowWriter(t *testing.T) {
	writes := 0
	cmd := exec.Command("sh", "-c", "cat /dev/zero & exit 0")
	cmd.Stdout, cmd.WaitDelay = writerFunc(func(b []byte) (int, error) {
		writes++
		if writes > 200 {
			return 0, errors.New("more than 200 writes")
		}
		time.Sleep(200 * time.Millisecond)
		return len(b), nil
	}), 100*time.Millisecond
	results, root, err := Job{}.Run(t.Context(), []*exec.Cmd{cmd})
	if err != nil || root != -1 {
		t.Errorf("%d writes, root %d, %+v, %v: want success", writes, root, results, err)
	}
}

// A writer that fails ends the worker, or fails it.
func TestOutputThatCannotBeWritten(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var log bytes.Buffer
	for script, signal := range map[string]os.Signal{"echo": nil, "while echo; do :; done": syscall.SIGPIPE} {
		cmd := exec.Command("sh", "-c", script)
		cmd.Stdout = io.MultiWriter(&log, w)
		results, root, err := Job{}.Run(t.Context(), []*exec.Cmd{cmd})
		if err != nil || root != 0 || results[0].Signal != signal || signal == nil && results[0].Err == nil {
			t.Errorf("%q: root %d, %+v, %v: want a failure", script, root, results, err)
		}
	}
}

// A worker whose two outputs are one writer never writes to it twice at a time.
func TestOutputsOfOneWriter(t *testing.T) {
	var out bytes.Buffer
	cmd := exec.Command("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo a; echo b >&2; done")
	cmd.Stdout, cmd.Stderr = &out, &out
	if _, root, err := (Job{}).Run(t.Context(), []*exec.Cmd{cmd}); err != nil || root != -1 || out.String() != strings.Repeat("a\nb\n", 9) {
		t.Errorf("root %d, %v, got %q", root, err, out.String())
	}
}
