// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParse(t *testing.T) {
	for line, want := range map[string]options{
		"":                               {port: 26543},
		"-p 5 --nondaemon x.pid":         {port: 5, nondaemon: true, pidFile: "x.pid"},
		"x.pid -p5":                      {port: 5, pidFile: "x.pid"},
		"--port=0 --bind ::1 --state=/s": {bind: "::1", state: "/s"},
		"-port 7 -- -x":                  {port: 7, pidFile: "-x"},
		"--lost_after 5s --replace-timeout=1m --state s --grace 2s": {
			port: 26543, lostAfter: 5 * time.Second, replace: time.Minute, state: "s", grace: 2 * time.Second,
		},
		"--grace 1m":                       {port: 26543, grace: time.Minute}, // ranks that reconnect show the restart to a server without --state
		"--version":                        {port: 26543, version: true},
		"-h":                               {port: 26543, help: true},
		"--bind 10.0.0.1 --bind 127.0.0.1": {port: 26543, bind: "127.0.0.1"},
		"--secret_file s --allow-vw --allow 10.0.0.0/8,::1": {port: 26543, guard: guard{
			secretFile: "s", allowVW: true, allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		}},
		"--max_jobs 1 --max_ranks 2 --max_pending 3 --max_handshakes 4 --max_frame 32768 --max_memory 64 --handshake_timeout 5s --max_idle 6h": {
			port: 26543, bounds: bounds{1, 2, 3, 4, 32768, 64, 5 * time.Second, 6 * time.Hour},
		},
	} {
		got, err := parse(strings.Fields(line))
		if d := cmp.Diff(want, got, cmp.AllowUnexported(web{}, options{}, guard{}, bounds{}), cmpopts.EquateComparable(netip.Prefix{})); err != nil || d != "" {
			t.Errorf("%q: %v, -want +got:\n%s", line, err, d)
		}
	}
}

// Limits beyond those of the server are errors of the command line.
func TestLimitsBeyondTheServer(t *testing.T) {
	for line, want := range map[string]string{
		"--max_ranks 40000":               "spanning_tree: --max_ranks is 40000, want 1 to 32768 (--help lists the options)\n",
		"--max_frame 100":                 "spanning_tree: --max_frame is 100, want 32768 to 16777216 (--help lists the options)\n",
		"--max_frame 16777217":            "spanning_tree: --max_frame is 16777217, want 32768 to 16777216 (--help lists the options)\n",
		"--max_jobs 2000000":              "spanning_tree: --max_jobs is 2000000, want 1 to 1048576 (--help lists the options)\n",
		"--max_pending 2000000":           "spanning_tree: --max_pending is 2000000, want 1 to 1048576 (--help lists the options)\n",
		"--max_handshakes 70000":          "spanning_tree: --max_handshakes is 70000, want 1 to 65536 (--help lists the options)\n",
		"--max_ranks 99999 --max_frame 1": "spanning_tree: --max_ranks is 99999, want 1 to 32768; --max_frame is 1, want 32768 to 16777216 (--help lists the options)\n",
	} {
		var stderr bytes.Buffer
		code := run(append(strings.Fields(line), "--nondaemon", "--bind", "192.0.2.1"), io.Discard, &stderr) // it cannot listen there
		if d := cmp.Diff(want, stderr.String()); code != exitUsage || d != "" {
			t.Errorf("%s: exit code %d, -want +got:\n%s", line, code, d)
		}
	}
}

// stuck is a terminal stopped by Ctrl-S.
type stuck struct {
	free chan struct{}
	buf  bytes.Buffer
}

func (s *stuck) Write(b []byte) (int, error) {
	<-s.free
	return s.buf.Write(b)
}

func TestLogNeverBlocks(t *testing.T) {
	w := &stuck{free: make(chan struct{})}
	l := newLossyWriter(w)
	const n = lineRoom + 500
	for i := range n {
		if _, err := fmt.Fprintf(l, "line %d\n", i); err != nil {
			t.Fatal(err)
		}
	}
	close(w.free)
	l.close()
	<-l.done
	got := w.buf.String()
	// The writer may hold one line while the others are queued.
	if kept := strings.Count(got, "line "); kept < lineRoom || kept > lineRoom+1 {
		t.Errorf("%d lines were kept, want %d", kept, lineRoom)
	}
	if !strings.HasPrefix(got, "line 0\n") && !strings.Contains(got, "\nline 0\n") {
		t.Error("the oldest line is missing")
	}
	if !strings.Contains(got, " log lines were dropped: stderr or the log file did not accept them in time\n") {
		t.Error("the number of dropped lines is missing")
	}
}

// A line that is written after close is dropped: a goroutine of the server may outlive it.
func TestLinesAfterCloseAreDropped(t *testing.T) {
	var out bytes.Buffer
	l := newLossyWriter(&out)
	fmt.Fprintln(l, "before")
	l.close()
	<-l.done
	fmt.Fprintln(l, "after")
	l.close()
	<-l.done
	if got := out.String(); got != "before\n" {
		t.Errorf("the log is %q", got)
	}
}

func TestUsageErrorsExitWith1(t *testing.T) {
	var stderr bytes.Buffer
	if code := run([]string{"--bogus"}, io.Discard, &stderr); code != 1 || !strings.HasPrefix(stderr.String(), "spanning_tree: unknown option --bogus") {
		t.Errorf("exit code %d, %q", code, &stderr)
	}
}
