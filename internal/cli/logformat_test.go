// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/logformat"
)

// A line of JSON has the keys and values of the line of text, and always its time.
func TestLogLinesAsJSON(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := &Process{Stderr: &out, LogFormat: logformat.JSON, Rewrite: func(s string) string { return strings.ReplaceAll(s, "Config.A", "--a") }}
	log := p.Logger(slog.LevelInfo, false)
	log.Debug("hidden")
	log.Warn("rank is slow", "rank", 3, "waits", 90*time.Second, "error", errors.New("Config.A is \"x\""))
	var got map[string]any
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatalf("%v in %q", err, out.String())
	}
	if _, err := time.Parse(time.RFC3339Nano, got["time"].(string)); err != nil {
		t.Error(err)
	}
	delete(got, "time")
	want := map[string]any{"level": "WARN", "msg": "rank is slow", "rank": 3.0, "waits": "1m30s", "error": `--a is "x"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
