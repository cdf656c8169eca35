// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"log/slog"

	"github.com/gvw-project/gvw/internal/serve/engine"
)

// Config configures a server. Only Engine is needed.
type Config struct {
	Engine *engine.Engine
	Kind   engine.Kind // how lines are read; zero: vw's text

	Limits   engine.Limits // LineTimeout is that of the rest of a line, since a connection without one may be idle
	MaxConns int           // connections at the same time; 0: 16,384

	Log *slog.Logger // connections that are closed; nil: discarded
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	f := engine.Faults{Package: "daemon"}
	f.Check(c.Engine != nil, "Engine is missing: it answers the lines")
	c.Limits.Check(&f)
	f.Check(c.MaxConns >= 0, "MaxConns is %d, want 0 or more", c.MaxConns)
	return f.Err()
}

func (c Config) withDefaults() Config {
	c.Limits = c.Limits.WithDefaults()
	if c.MaxConns == 0 {
		c.MaxConns = 16384
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}
