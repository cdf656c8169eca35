// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// call runs a command in this process.
func call(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	p := &program{Process: &cli.Process{Args: args, Stdout: &out, Stderr: &errs}}
	code = 0
	if err := p.run(t.Context(), commands()); err != nil {
		code = p.fail(err)
	}
	return out.String(), errs.String(), code
}

// A job that fills is listed with its missing ranks. After it is cancelled, its ranks print
// the reason, and it is no longer listed.
func TestJobsAndCancel(t *testing.T) {
	server, err := server.StartLocal(t.Context(), 0, server.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	at := []string{"--span_server_port", strconv.Itoa(server.Port)}
	if out, _, code := call(t, append([]string{"jobs"}, at...)...); out != "no jobs\n" || code != 0 {
		t.Errorf("code %d, %q", code, out)
	}
	m, err := client.Join(t.Context(), client.JoinConfig{
		Server: fmt.Sprintf("127.0.0.1:%d", server.Port), Job: protocol.Job{UniqueID: 7, RunKey: "run"},
		Rank: 1, Total: 3, Advertise: "127.0.0.1:9", StartTimeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	out, _, _ := call(t, append([]string{"jobs"}, at...)...)
	lines := strings.Split(out, "\n")
	want := `^7/run +filling +1/3 +0 +- +\d+s +0,2 *$`
	if !regexp.MustCompile(want).MatchString(lines[1]) {
		t.Errorf("got %q, want %s", lines[1], want)
	}
	if out, _, _ := call(t, append([]string{"jobs", "--json"}, at...)...); !strings.Contains(out, `"run_key": "run"`) {
		t.Errorf("JSON: %s", out)
	}

	ready := make(chan error, 1)
	go func() {
		_, err := m.Ready(t.Context(), protocol.Shard{})
		ready <- err
	}()
	if _, stderr, code := call(t, append([]string{"cancel", "8"}, at...)...); code != cli.ExitRefused || !strings.Contains(stderr, "there is no job 8") {
		t.Errorf("code %d, %q", code, stderr)
	}
	if _, stderr, code := call(t, append([]string{"cancel", "7", "--reason", "wrong data"}, at...)...); code != 0 || stderr != "" {
		t.Errorf("code %d, %q", code, stderr)
	}
	err = <-ready
	if no, ok := errors.AsType[*protocol.RefusedError](err); !ok || no.Code != protocol.Cancelled || !strings.Contains(no.Reason, "wrong data") {
		t.Errorf("the rank hears %v", err)
	}
	if out, _, _ := call(t, append([]string{"jobs"}, at...)...); out != "no jobs\n" {
		t.Errorf("it is still there: %q", out)
	}
	out, _, _ = call(t, append([]string{"jobs", "--all"}, at...)...)
	lines = strings.Split(out, "\n")
	if len(lines) < 4 || !strings.HasPrefix(lines[2], "ENDED JOB") || !strings.HasPrefix(lines[3], "7/run") || !strings.HasSuffix(lines[3], "cancelled: wrong data") {
		t.Errorf("--all: %q", out)
	}
}

// Text from a rank or another user reaches a terminal only escaped: in gvw jobs, in the
// server's log, and in the errors of ranks.
func TestForeignTextIsEscaped(t *testing.T) {
	const nasty = "run\x1b]0;title\a\nforged\u202e\u009b31m"
	printable := func(from, text string) {
		t.Helper()
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 || !utf8.ValidString(text) {
			t.Errorf("%s is not printable at byte %d: %q", from, i, text)
		}
		if strings.Contains(text, "\nforged") {
			t.Errorf("%s has a forged line: %q", from, text)
		}
	}
	var log bytes.Buffer
	server, err := server.StartLocal(t.Context(), 0, server.ServerConfig{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	defer stop()
	job := protocol.Job{UniqueID: 7, RunKey: nasty}
	m, err := client.Join(t.Context(), client.JoinConfig{
		Server: fmt.Sprintf("127.0.0.1:%d", server.Port), Job: job, Rank: 0, Total: 2, Advertise: "127.0.0.1:9", StartTimeout: time.Minute,
		Host: nasty, Version: nasty, Options: nasty, Heartbeat: time.Millisecond,
		Waiting: func() client.Waits { return client.Waits{Text: nasty, Rank: -1} },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	at := []string{"--span_server_port", strconv.Itoa(server.Port)}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		out, _, _ := call(t, append([]string{"jobs"}, at...)...)
		printable("gvw jobs", out)
		if strings.Count(out, "title") > 1 { // the first is the job's, the second what the rank waits for
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("gvw jobs does not show what the rank waits for: %q", out)
		}
	}
	out, _, _ := call(t, append([]string{"jobs", "--json"}, at...)...)
	printable("gvw jobs --json", out)
	var st protocol.ServerStatus
	if err := json.Unmarshal([]byte(out), &st); err != nil || st.Jobs[0].RunKey != nasty {
		t.Errorf("%v; the JSON has run key %q", err, st.Jobs[0].RunKey)
	}
	if _, stderr, code := call(t, append([]string{"cancel", "7", "--reason", nasty}, at...)...); code != 0 {
		t.Errorf("code %d, %q", code, stderr)
	}
	<-m.Over()
	printable("the rank's error", m.Cause().Error())
	printable("an error of another rank", (&protocol.LostError{Job: job, Host: nasty, Why: nasty}).Error())
	printable("an error in collectives", (&allreduce.LostError{Host: nasty, Why: nasty}).Error())
	_, stderr, _ := call(t, append([]string{"cancel", "8/" + nasty}, at...)...)
	printable("gvw cancel", stderr)
	stop()
	printable("the server's log", log.String())
}
