// SPDX-License-Identifier: Apache-2.0

//go:build long

package metrics

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// promtool, where there is one, accepts the metrics and the example alerts.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		promtool, err = exec.LookPath("../../../bin/promtool") // where make setup puts it
	}
	if err != nil {
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("REQUIRE_ALL=1, and there is no promtool (make setup)")
		}
		t.Skip("needs promtool (make setup)")
	}
	w := httptest.NewRecorder()
	Handler(status).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	check := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	check.Stdin = w.Body
	for _, c := range []*exec.Cmd{check, exec.CommandContext(t.Context(), promtool, "check", "rules", "../../../docs/monitoring/alerts.yml")} {
		if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "error") {
			t.Errorf("%v: %v\n%s", c.Args, err, out)
		}
	}
}
