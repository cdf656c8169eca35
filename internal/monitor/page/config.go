// SPDX-License-Identifier: Apache-2.0

package page

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/history"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Config configures a page.
type Config struct {
	// Source returns a snapshot of the server. It is called from one goroutine. Required.
	Source func() protocol.ServerStatus
	// History bounds the memory of the history.
	History history.Config
	// Interval is the time between two snapshots; 0: 500 ms.
	Interval time.Duration
	// MaxClients limits the streams of events; 0: 32. A further client is refused with status 503.
	MaxClients int
	// WriteTimeout is the time in which a client must take a message; 0: 10 s.
	WriteTimeout time.Duration
	// Log returns the end of the log of a rank, oldest line first; nil: there are no logs here.
	Log func(job history.ID, rank int) []string
	// Control changes jobs; nil: the page is read-only.
	Control *Control
	// Logger gets a line for each use of Control; nil: none.
	Logger *slog.Logger
}

// Control changes jobs on request of a user, who has confirmed it.
type Control struct {
	Cancel func(job history.ID) error           // nil: not possible here
	Kill   func(job history.ID, rank int) error // ends the process of a rank; nil: not possible here
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	var faults []error
	if c.Source == nil {
		faults = append(faults, errors.New("page: Config.Source is nil: give a source of snapshots"))
	}
	if c.Interval < 0 || c.WriteTimeout < 0 {
		faults = append(faults, fmt.Errorf("page: Config.Interval is %v and WriteTimeout %v, want 0 or more", c.Interval, c.WriteTimeout))
	}
	if c.MaxClients < 0 {
		faults = append(faults, fmt.Errorf("page: Config.MaxClients is %d, want 0 or more", c.MaxClients))
	}
	return errors.Join(append(faults, c.History.Validate())...)
}

func (c Config) withDefaults() Config {
	protocol.SetDefault(&c.Interval, 500*time.Millisecond)
	protocol.SetDefault(&c.MaxClients, 32)
	protocol.SetDefault(&c.WriteTimeout, 10*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
