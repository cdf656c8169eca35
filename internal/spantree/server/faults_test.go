// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/monitor/cause"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/core"
)

// A report is a JSON file that has what was found, under its final name only.
func TestFaultFiles(t *testing.T) {
	dir := t.TempDir()
	w, err := newFaultWriter(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	want := FaultReport{
		Time: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Cause: cause.Verdict{Rank: 3, Kind: cause.FullDisk, Line: "rank 3 has a full disk"},
		Evidence: cause.Evidence{Job: "7", How: cause.GaveUp, Rank: 3, Peer: -1, Ranks: []*cause.Rank{{Rank: 3, Host: "h3", Events: []events.Event{{Kind: events.Failure, Class: events.DiskFull, Peer: -1}}}}},
	}
	for range 3 {
		w.add(core.FaultFound{Evidence: want.Evidence, Verdict: want.Cause, At: want.Time})
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	w.add(core.FaultFound{}) // after close, which is idempotent
	if err := w.close(); err != nil {
		t.Error(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "gvw-fault-20260304T050607.000Z-1.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got FaultReport
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(all) != 3 {
		t.Errorf("%d files, want 3: %v", len(all), err)
	}
	for _, name := range all {
		if filepath.Ext(name) != ".json" {
			t.Errorf("%s is left", name)
		}
	}
}

// A directory that does not exist is an error at the start of the server.
func TestFaultDirMustExist(t *testing.T) {
	for _, dir := range []string{filepath.Join(t.TempDir(), "missing"), "faults_test.go"} {
		if s, err := NewServer(ServerConfig{FaultDir: dir}); err == nil {
			t.Errorf("%s: got no error", dir)
			_ = s.Close()
		}
	}
}
