// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"strings"
	"testing"
	"time"
)

// TestConfigNamesFaults names each faulty field.
func TestConfigNamesFaults(t *testing.T) {
	valid := Config{Server: "gateway:26543", Job: Job{UniqueID: 1, RunKey: "run"}, Total: 2}
	for _, c := range []struct {
		name, want string
		change     func(c *Config)
	}{
		{"valid", "", func(*Config) {}},
		{"rank", "malt: Rank: got 2, want 0 to Total-1 = 1", func(c *Config) { c.Rank = 2 }},
		{"policy", "malt: OnLoss: got on_loss 9, want abort, wait, shrink or grow", func(c *Config) { c.OnLoss = 9 }},
		{"stall", "malt: Stall: got -1s, want at least 1ms", func(c *Config) { c.Stall = -time.Second }},
		{"short stall", "malt: Stall: got 5ns, want at least 1ms, or 0 for 20s", func(c *Config) { c.Stall = 5 }},
		{"grow", "malt: Job.RunKey: a job that grows needs a run key", func(c *Config) { c.OnLoss, c.Job.RunKey = Grow, "" }},
		{"elastic", "malt: Elastic: ", func(c *Config) { c.Elastic = time.Second }},
		{"server", "server \"gateway\" is not host:port", func(c *Config) { c.Server = "gateway" }},
	} {
		config := valid
		c.change(&config)
		switch err := config.Validate(); {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
