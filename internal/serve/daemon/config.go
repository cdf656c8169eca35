// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gvw-project/gvw/internal/serve/engine"
)

// Config configures a server. Only Engine is needed.
type Config struct {
	Engine *engine.Engine
	Kind   engine.Kind // how lines are read; zero: vw's text

	MaxLine      int           // longest line, in bytes; 0: 1 MiB
	MaxConns     int           // connections at the same time; 0: 16,384
	LineTimeout  time.Duration // time between two parts of a line; 0: 60 s
	WriteTimeout time.Duration // time for a client to read answers; 0: 10 s

	Log *slog.Logger // connections that are closed; nil: discarded
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("daemon: Config."+format, args...))
		}
	}
	check(c.Engine != nil, "Engine is missing: it answers the lines")
	check(c.MaxLine >= 0, "MaxLine is %d bytes, want 0 or more", c.MaxLine)
	check(c.MaxConns >= 0, "MaxConns is %d, want 0 or more", c.MaxConns)
	check(c.LineTimeout >= 0, "LineTimeout is %v, want 0 or more", c.LineTimeout)
	check(c.WriteTimeout >= 0, "WriteTimeout is %v, want 0 or more", c.WriteTimeout)
	return errors.Join(faults...)
}

func (c Config) withDefaults() Config {
	if c.MaxLine == 0 {
		c.MaxLine = 1 << 20
	}
	if c.MaxConns == 0 {
		c.MaxConns = 16384
	}
	if c.LineTimeout == 0 {
		c.LineTimeout = 60 * time.Second
	}
	if c.WriteTimeout == 0 {
		c.WriteTimeout = 10 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}
