// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"strings"
	"testing"
)

func TestConfigFromEnv(t *testing.T) {
	env := map[string]string{
		"GVW_SPAN_SERVER": "gateway", "GVW_UNIQUE_ID": "7", "GVW_RUN_ID": "run", "GVW_TOTAL": "4", "GVW_NODE": "2",
		"GVW_ON_LOSS": "shrink", "GVW_BIND": "127.0.0.1",
	}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	c, err := ConfigFromEnv(lookup)
	if err != nil || c.Server != "gateway:26543" || c.Job != (Job{UniqueID: 7, RunKey: "run"}) || c.Rank != 2 || c.Total != 4 || c.OnLoss != Shrink || c.Listen != "127.0.0.1:0" {
		t.Errorf("got %+v and %v", c, err)
	}
	env["GVW_NODE"], env["GVW_TOTAL"] = "x", ""
	if _, err := ConfigFromEnv(lookup); err == nil || !strings.Contains(err.Error(), `malt: GVW_NODE: got "x"`) || !strings.Contains(err.Error(), "GVW_TOTAL") {
		t.Errorf("got %v, want both faults", err)
	}
	if _, err := ConfigFromEnv(func(string) (string, bool) { return "", false }); err == nil || !strings.Contains(err.Error(), "malt: GVW_SPAN_SERVER is not set") {
		t.Errorf("got %v, want the name of the missing variable", err)
	}
}
