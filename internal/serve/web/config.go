// SPDX-License-Identifier: Apache-2.0

package web

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/internal/serve/engine"
)

// Model is a model that clients select by its name.
type Model struct {
	Name   string
	Engine *engine.Engine
}

// Config configures the handler.
type Config struct {
	Models  []Model // at least one; the first answers requests without a name
	Token   string  // that clients send as Authorization: Bearer TOKEN; empty: none is needed
	MaxLine int     // longest line, in bytes; 0: 1 MiB
	MaxBody int64   // largest body of a request, in bytes; 0: 1 GiB
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	var faults []error
	if len(c.Models) == 0 {
		faults = append(faults, errors.New("web: Config.Models is empty: give a model"))
	}
	seen := map[string]bool{}
	for _, m := range c.Models {
		if seen[m.Name] || m.Name == "" || m.Engine == nil {
			faults = append(faults, fmt.Errorf("web: Config.Models has %q twice, without a name, or without an engine", m.Name))
		}
		seen[m.Name] = true
	}
	if c.MaxLine < 0 || c.MaxBody < 0 {
		faults = append(faults, fmt.Errorf("web: Config.MaxLine is %d and MaxBody %d, want 0 or more bytes", c.MaxLine, c.MaxBody))
	}
	return errors.Join(faults...)
}

func (c Config) withDefaults() Config {
	if c.MaxLine == 0 {
		c.MaxLine = 1 << 20
	}
	if c.MaxBody == 0 {
		c.MaxBody = 1 << 30
	}
	return c
}
