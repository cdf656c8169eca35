// SPDX-License-Identifier: Apache-2.0

package client

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/monitor/ranklog"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Lines that are written together go together. Before FAIL all lines go, beyond the rate too, and the last one has the reason.
func TestLinesReachTheServerBeforeTheEndOfTheRank(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		cfg := s.config()
		cfg.Logs = &ranklog.Queue{Rate: 1, Burst: 2}
		m, _, c := s.wired(cfg)
		fmt.Fprint(cfg.Logs, "a\nb\nc\nd\n")
		fail := failing(func() error {
			time.Sleep(100 * time.Millisecond)
			return m.Fail(t.Context(), "no label", "")
		})
		var got []string
		for {
			f := c.next()
			if _, end := f.(*protocol.FailFrame); end {
				break
			}
			l, ok := f.(*protocol.LogFrame)
			if !ok {
				t.Fatalf("got %v, want LOG or FAIL", protocol.TypeOf(f))
			}
			got = append(got, strings.Join(l.Lines, " "))
		}
		last := got[len(got)-1]
		if !strings.HasPrefix(last, "c d ") || !strings.HasSuffix(last, `level=ERROR msg="this rank gives up" rank=1 error="no label"`) {
			t.Errorf("the last lines are %q", last)
		}
		if d := cmp.Diff([]string{"a b"}, got[:len(got)-1]); d != "" {
			t.Errorf("the first lines, -want +got:\n%s", d)
		}
		c.send(&protocol.EpochEndFrame{Epoch: epochOf(1), Final: true, Cause: protocol.Cause{Kind: protocol.CauseGaveUp, Rank: 1, Why: "no label"}})
		if err := fail(); err != nil {
			t.Error(err)
		}
	})
}

// While there is no server, the newest lines wait. The next server gets them, and the number of those that were dropped.
func TestLinesWaitForTheServer(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		cfg := s.config()
		cfg.OnLoss = protocol.Wait
		cfg.Logs = &ranklog.Queue{Bytes: 3 * (ranklog.LineBytes + 1)}
		_, _, c := s.wired(cfg)
		_ = c.conn.Close()
		synctest.Wait()
		began := time.Now()
		fmt.Fprint(cfg.Logs, "a\nb\nc\nd\ne\n")
		if time.Since(began) != 0 {
			t.Error("a rank has waited for its log")
		}
		again, _ := s.join()
		for {
			f := again.next()
			if l, ok := f.(*protocol.LogFrame); ok {
				if d := cmp.Diff(ranklog.Batch{Dropped: 2, Lines: []string{"c", "d", "e"}}, l.Batch); d != "" {
					t.Errorf("-want +got:\n%s", d)
				}
				return
			}
		}
	})
}

// A server that reads nothing delays no line: the oldest are dropped.
func TestSlowServerDelaysNoLine(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		cfg := s.config()
		cfg.Logs = &ranklog.Queue{}
		m, _, c := s.wired(cfg)
		began := time.Now()
		for i := range 10_000 {
			fmt.Fprintf(cfg.Logs, "line %d of many\n", i)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("10,000 lines took %v", took)
		}
		newest := ""
		read := failing(func() error {
			for {
				f, err := c.frames.Next()
				if err != nil {
					return err
				}
				if l, ok := f.(*protocol.LogFrame); ok {
					newest = l.Lines[len(l.Lines)-1]
				}
			}
		})
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		_ = read() // the end of the connection
		if n := cfg.Logs.Dropped(); n < 5000 || newest != "line 9999 of many" {
			t.Errorf("%d lines were dropped, the newest is %q, want those beyond 64 KiB, and the last line", n, newest)
		}
	})
}

// The last lines take at most the time that they are given. No frame of them begins after that time.
func TestLastLinesHaveALimit(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		cfg := s.config()
		cfg.Heartbeat = time.Minute
		m, _, c := s.wired(cfg)
		m.cfg.Logs = &ranklog.Queue{} // without the goroutine that sends lines
		c.fill(m)
		fmt.Fprint(m.cfg.Logs, strings.Repeat(strings.Repeat("x", 1000)+"\n", 60))
		const limit = 500 * time.Millisecond
		began := time.Now()
		m.sendLastLogs(t.Context(), limit)
		if took := time.Since(began); took != limit {
			t.Errorf("the last lines took %v, want %v", took, limit)
		}
		fail := failing(func() error { return m.Fail(t.Context(), "no label", "") }) // FAIL waits for the frame that has begun
		lines := 0
		for {
			f := c.next()
			if l, ok := f.(*protocol.LogFrame); ok {
				lines += len(l.Lines)
			}
			if _, end := f.(*protocol.FailFrame); end {
				break
			}
		}
		c.send(&protocol.EpochEndFrame{Epoch: epochOf(1), Final: true, Cause: protocol.Cause{Kind: protocol.CauseGaveUp, Rank: 1, Why: "no label"}})
		if err := fail(); err != nil {
			t.Error(err)
		}
		if lines == 0 {
			t.Error("the server got no lines")
		}
	})
}

// A rank without --log_to_server has no goroutine for lines, and sends none.
func TestNoLinesWithoutTheOption(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		m, _, c := s.wired(s.config())
		leave := failing(m.Close)
		if f := c.next(); protocol.TypeOf(f).String() != "LEAVE" {
			t.Errorf("got %v, want LEAVE", protocol.TypeOf(f))
		}
		c.send(&protocol.FinishedFrame{})
		if err := leave(); err != nil {
			t.Error(err)
		}
	})
}

// A server without LOG_REQUEST answers the STATUS that follows it.
func TestLogsOfAnOlderServer(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		logs := background(func() ([]ranklog.RankLog, error) {
			return Logs(t.Context(), s.network.Host("h1"), "gateway:26543", nil, LogRequest{Job: protocol.Job{UniqueID: 7}, Rank: -1, Lines: 5})
		})
		c := s.accept()
		if d := cmp.Diff(&protocol.LogRequestFrame{UniqueID: 7, Rank: -1, Lines: 5}, receive[*protocol.LogRequestFrame](c)); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
		receive[*protocol.StatusFrame](c)
		c.send(&protocol.JobsFrame{JSON: "{}"})
		if _, err := logs(); err == nil || !strings.Contains(err.Error(), "older release, which keeps no logs") {
			t.Errorf("got %v", err)
		}
	})
}
