// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary act as spanning_tree, also as a background child. A race build sleeps for a second at the end of each process
// unless GORACE sets another time.
func TestMain(m *testing.M) {
	if _, set := os.LookupEnv("GORACE"); !set {
		os.Setenv("GORACE", "atexit_sleep_ms=10")
	}
	testscript.Main(m, map[string]func(){"spanning_tree": main})
}

// patience is the liveness limit for waits that should take milliseconds.
const patience = time.Minute

// TestScripts checks the contract of the command line. Each script is a session that a user
// could type.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Values[workersKey{}] = workers{}
			env.Defer(func() { killLeft(env.WorkDir) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":     scriptCode,
			"port":     scriptPort,
			"number":   scriptNumber,
			"await":    scriptAwait,
			"register": scriptRegister,
			"hangup":   scriptHangUp,
			"signal":   scriptSignal,
			"endof":    scriptEndOf,
		},
	})
}

// killLeft kills background servers that a failed script has left.
func killLeft(dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "pid*")) // the pattern is valid
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil {
			if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// scriptCode runs a program and compares its exit code: code 5 spanning_tree ...
func scriptCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		e, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

var servingAt = regexp.MustCompile(`msg=serving addr=\S*:(\d+)`)

// scriptPort waits for the port in a server's log: port VAR log
func scriptPort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: port VAR log")
	}
	ts.Setenv(args[0], waitFor(ts, args[1], servingAt)[1])
}

// scriptNumber sets a variable to the number in a file: number VAR file
func scriptNumber(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: number VAR file")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// scriptAwait waits until a file matches: await file regexp
func scriptAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await file regexp")
	}
	waitFor(ts, args[0], regexp.MustCompile("(?m)"+args[1]))
}

func waitFor(ts *testscript.TestScript, file string, words *regexp.Regexp) []string {
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		b, err := os.ReadFile(ts.MkAbs(file))
		if m := words.FindStringSubmatch(string(b)); m != nil {
			return m
		}
		if time.Now().After(end) {
			ts.Fatalf("%s does not match %v (%v):\n%s", file, words, err, b)
		}
	}
}

// workers holds the connections of a script's vw workers, by name.
type workers map[string]net.Conn

type workersKey struct{}

// scriptRegister registers as a vw worker, compares the server's answer, and keeps the
// connection: register name port unique_id total rank answer. Negated, it expects that the
// server closes the connection without an answer.
func scriptRegister(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 6 {
		ts.Fatalf("usage: register name port unique_id total rank answer")
	}
	c, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", args[1]), patience)
	ts.Check(err)
	ts.Defer(func() { c.Close() })
	ts.Check(c.SetDeadline(time.Now().Add(patience)))
	var hello []byte
	for _, a := range args[2:5] {
		n, err := strconv.ParseUint(a, 10, 64)
		ts.Check(err)
		hello = binary.LittleEndian.AppendUint64(hello, n)
	}
	_, err = c.Write(hello)
	got := make([]byte, len(args[5])/2)
	if neg {
		if n, err := c.Read(got); err == nil || os.IsTimeout(err) {
			ts.Fatalf("%s got % x (%v), want a closed connection", args[0], got[:n], err)
		}
		return
	}
	ts.Check(err)
	_, err = io.ReadFull(c, got)
	ts.Check(err)
	if hex.EncodeToString(got) != args[5] {
		ts.Fatalf("%s got % x, want %s", args[0], got, args[5])
	}
	ts.Value(workersKey{}).(workers)[args[0]] = c
}

// scriptHangUp closes a worker's connection: hangup name
func scriptHangUp(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Value(workersKey{}).(workers)[args[0]].Close())
}

// process returns the process that a pid file names.
func process(ts *testscript.TestScript, file string) *os.Process {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(file)))
	ts.Check(err)
	p, err := os.FindProcess(pid)
	ts.Check(err)
	return p
}

// scriptSignal sends a signal: signal TERM pidfile
func scriptSignal(ts *testscript.TestScript, _ bool, args []string) {
	sig := map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT, "SEGV": syscall.SIGSEGV}[args[0]]
	ts.Check(process(ts, args[1]).Signal(sig))
}

// scriptEndOf waits for the end of a background server, which removes its pid file:
// endof pidfile
func scriptEndOf(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(file); os.IsNotExist(err) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%s still exists", filepath.Base(file))
		}
	}
}
