// SPDX-License-Identifier: Apache-2.0

package web

import (
	"github.com/gvw-project/gvw/internal/serve/engine"
)

// Model is a model that clients select by its name.
type Model struct {
	Name   string
	Engine *engine.Engine
}

// Config configures the handler. Only Models is needed.
type Config struct {
	Models []Model // at least one; the first answers requests without a name
	Token  string  // that clients send as Authorization: Bearer TOKEN; empty: none is needed
	Local  bool    // the server is reached only over the loopback interface, without TLS: unless there is a token, Host must be a name or address of it

	Limits  engine.Limits // LineTimeout begins with the request, and again with each line that has arrived
	MaxBody int64         // largest body of a request, in bytes; 0: 1 GiB
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	f := engine.Faults{Package: "web"}
	f.Check(len(c.Models) > 0, "Models is empty: give a model")
	seen := map[string]bool{}
	for i, m := range c.Models {
		f.Check(m.Name != "", "Models[%d].Name is empty: clients select a model by it", i)
		f.Check(!seen[m.Name], "Models has %q twice", m.Name)
		f.Check(m.Engine != nil, "Models[%d].Engine is missing: it answers the lines", i)
		seen[m.Name] = true
	}
	c.Limits.Check(&f)
	f.Check(c.MaxBody >= 0, "MaxBody is %d bytes, want 0 or more", c.MaxBody)
	return f.Err()
}

func (c Config) withDefaults() Config {
	c.Limits = c.Limits.WithDefaults()
	if c.MaxBody == 0 {
		c.MaxBody = 1 << 30
	}
	return c
}
