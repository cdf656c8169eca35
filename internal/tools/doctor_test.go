// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/allreduce/doctor"
	"github.com/gvw-project/gvw/internal/cli"
)

// Addresses and faults come from other hosts. They must not contain control characters that
// reach the terminal, or begin a line.
func TestDoctorEscapesForeignText(t *testing.T) {
	hostile := "x\x1b]0;title\a\n\u202egvw: all is well\r\x9b2J\xff"
	r := &doctor.Report{
		Ranks: []address.View{
			{Rank: 0, Advertised: "10.0.0.1:1", Observed: "10.0.0.1"},
			{Rank: 1, Advertised: hostile, Observed: hostile},
			{Rank: 2, Advertised: hostile + ":2", Observed: "10.0.0.3"},
		},
		Ways: []doctor.Way{
			{From: 0, To: 1, Fault: hostile, Missing: true},
			{From: 0, To: 2, Fault: hostile},
			{From: 1, To: 0, Latency: time.Millisecond, Rate: 1e9},
			{From: 1, To: 2, Fault: hostile, Missing: true},
			{From: 2, To: 0, Fault: hostile},
			{From: 2, To: 1, Fault: hostile, Missing: true},
		},
		Silent: []int{2},
	}
	var stdout, stderr bytes.Buffer
	p := &cli.Process{Stdout: &stdout, Stderr: &stderr}
	if err := findings(p, r, false); err == nil {
		t.Error("got no error for a report with faults")
	}
	if got, want := strings.Count(stdout.String(), "\n"), 1+len(r.Ways); got != want {
		t.Errorf("the table has %d lines, want %d:\n%q", got, want, &stdout)
	}
	if got, want := strings.Count(stderr.String(), "\n"), len(r.Faults()); got != want {
		t.Errorf("the faults have %d lines, want %d:\n%q", got, want, &stderr)
	}
	for _, text := range []string{stdout.String(), stderr.String()} {
		if i := strings.IndexFunc(text, func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) || c == '\ufffd' }); i >= 0 {
			t.Errorf("%q is printed", text[i:])
		}
	}
	if !strings.Contains(stderr.String(), `\x1b]0;title\a\n`) {
		t.Errorf("the faults do not contain the escaped text: %q", &stderr)
	}
}
