// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// A job is listed while it fills, with who is missing; cancelled, its ranks hear why,
// and it is gone.
func TestJobsAndCancel(t *testing.T) {
	server, err := server.StartLocal(t.Context(), 0, nil, slog.New(slog.DiscardHandler))
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
	if want := []string{"7/run", "filling", "1/3", "0", "-", "0s", "0,2"}; !cmp.Equal(want, strings.Fields(lines[1])) {
		t.Errorf("got %q, want %q", lines[1], want)
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
