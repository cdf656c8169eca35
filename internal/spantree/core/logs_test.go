// SPDX-License-Identifier: Apache-2.0

package core

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/monitor/ranklog"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// logMachine returns a machine with two ranks of job 7, by the connections 1 and 2.
func logMachine(rules Rules) *Machine {
	m := NewMachine(rules, 5, 0xabc, constant)
	for rank := range uint32(2) {
		m.Step(birth, JoinReceived{Conn: ConnID(rank + 1), From: Endpoint{Host: "h"}, Join: &protocol.JoinFrame{
			UniqueID: 7, Rank: rank, Total: 3, Attempt: uint64(rank) + 9, Heartbeat: time.Second, LostAfter: 10 * time.Second, OptionsSHA256: sha256.Sum256(nil), Capabilities: protocol.CanSendEvents,
		}})
	}
	return m
}

// requested returns the answer to LOG_REQUEST.
func requested(t *testing.T, m *Machine, r protocol.LogRequestFrame) (logs []ranklog.RankLog) {
	t.Helper()
	out := m.Step(birth, LogsRequested{Conn: 50, Request: &r})
	if len(out) != 2 || out[1] != (CloseConn{50}) {
		t.Fatalf("%d actions, the last %v", len(out), out[len(out)-1])
	}
	if err := json.Unmarshal([]byte(out[0].(SendFrame).Frame.(*protocol.LogsFrame).JSON), &logs); err != nil {
		t.Fatal(err)
	}
	return logs
}

func lineFrame(lines ...string) *protocol.LogFrame {
	return &protocol.LogFrame{Batch: ranklog.Batch{Lines: lines}}
}

// The lines of a rank that gives up are in the report of the fault, and remain after the end of the job for some time.
func TestLogsOutliveTheirJob(t *testing.T) {
	m := logMachine(testRules)
	m.Step(birth, FrameReceived{1, lineFrame("fine")})
	m.Step(birth, FrameReceived{2, lineFrame("reading", "no \x1blabel")})
	var found []ranklog.RankLog
	step := func(ev Event) {
		for _, a := range m.Step(birth.Add(time.Second), ev) {
			if f, ok := a.(FaultFound); ok {
				found = f.Logs
			}
		}
	}
	step(FrameReceived{2, &protocol.FailFrame{Reason: "no label"}})
	step(ConnClosed{Conn: 1})
	step(ConnClosed{Conn: 2})
	want := []ranklog.RankLog{{Rank: 0, Lines: []string{"fine"}}, {Rank: 1, Lines: []string{"reading", `no \x1blabel`}}}
	if d := cmp.Diff(want, found); d != "" {
		t.Errorf("in the report, -want +got:\n%s", d)
	}
	if d := cmp.Diff(want, requested(t, m, protocol.LogRequestFrame{UniqueID: 7, Rank: -1, Lines: 100})); d != "" {
		t.Errorf("after the end, -want +got:\n%s", d)
	}
	one := []ranklog.RankLog{{Rank: 1, Older: 1, Lines: []string{`no \x1blabel`}}}
	if d := cmp.Diff(one, requested(t, m, protocol.LogRequestFrame{UniqueID: 7, Rank: 1, Lines: 1})); d != "" {
		t.Errorf("one line of rank 1, -want +got:\n%s", d)
	}
	for _, none := range []protocol.LogRequestFrame{{UniqueID: 7, Rank: 2, Lines: 9}, {UniqueID: 8, Rank: -1, Lines: 9}, {UniqueID: 7, RunKey: "x", Rank: -1, Lines: 9}} {
		if got := requested(t, m, none); len(got) != 0 {
			t.Errorf("%+v: got %v, want none", none, got)
		}
	}
	m.Step(birth.Add(testRules.RememberFor+time.Minute), TimePassed{})
	if n := m.MemoryUse(); n != 0 {
		t.Errorf("%d bytes are counted after the logs have expired", n)
	}
}

// Lines count as memory of the clients, up to the limits. A flood displaces no lines of another rank.
func TestLogsAreBounded(t *testing.T) {
	rules := testRules
	rules.Logs = ranklog.Limits{Rank: 4096, Job: 30_000, Total: 60_000}
	m := logMachine(rules)
	m.Step(birth, FrameReceived{1, lineFrame("only line")})
	before := m.MemoryUse()
	for range 1000 {
		m.Step(birth, FrameReceived{2, lineFrame(strings.Repeat("x", 1000), strings.Repeat("y", 1000))})
	}
	if added := m.MemoryUse() - before; added <= 0 || added > 4096 {
		t.Errorf("2,000 lines count as %d bytes, want at most 4096", added)
	}
	if got, ok := m.Log(protocol.Job{UniqueID: 7}, 1, 10); !ok || len(got.Lines) != 3 || got.Older != 1997 {
		t.Errorf("%d lines, %d older, want 3 and 1997", len(got.Lines), got.Older)
	}
	if got, ok := m.Log(protocol.Job{UniqueID: 7}, 0, 10); !ok || len(got.Lines) != 1 {
		t.Errorf("the lines of the other rank: %q", got.Lines)
	}
}

// All lines of all ranks, in characters that JSON escapes, fit into one LOGS.
func TestLogsFitIntoAFrame(t *testing.T) {
	m := logMachine(testRules)
	for range 100 {
		for conn := range ConnID(2) {
			m.Step(birth, FrameReceived{conn + 1, lineFrame(strings.Repeat("<", ranklog.MaxLine), strings.Repeat("&", ranklog.MaxLine))})
		}
	}
	for _, a := range m.Step(birth, LogsRequested{Conn: 50, Request: &protocol.LogRequestFrame{UniqueID: 7, Rank: -1, Lines: 1 << 31}}) {
		if s, ok := a.(SendFrame); ok {
			if b, err := protocol.AppendFrame(nil, s.Frame); err != nil || len(b) < 600_000 {
				t.Errorf("a frame of %d bytes: %v", len(b), err)
			}
		}
	}
}

// A spare without a rank may send LOG, which is ignored.
func TestSpareHasNoLog(t *testing.T) {
	m := logMachine(testRules)
	m.Step(birth, JoinReceived{Conn: 3, From: Endpoint{Host: "h"}, Join: &protocol.JoinFrame{
		UniqueID: 7, Rank: protocol.NoRank, Total: 3, Attempt: 20, Heartbeat: time.Second, LostAfter: 10 * time.Second, OnLoss: protocol.Wait, OptionsSHA256: sha256.Sum256(nil),
	}})
	m.Step(birth, FrameReceived{3, lineFrame("x")})
	if got := requested(t, m, protocol.LogRequestFrame{UniqueID: 7, Rank: -1, Lines: 9}); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
