// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// MaxRanks is the limit of ranks, because the number of paths grows with its square.
const MaxRanks = 256

// Config describes the examination. The fields correspond to those of allreduce.Config.
type Config struct {
	// Server is the address of the spanning-tree server, host:port. Required.
	Server string
	// Job is the ID of the examination. It must differ from those of all other jobs.
	Job protocol.Job
	// Credentials are presented and required, as in allreduce.Config.
	Credentials *auth.Credentials
	// Rank is this process's rank, 0 to Total-1. Total is 2 to MaxRanks.
	Rank, Total int
	// Listen and Advertise are the addresses to examine; "": as in allreduce.Config.
	Listen, Advertise string
	// Network makes all connections; nil: transport.TCP.
	Network transport.Network
	// StartTimeout is the limit for all ranks to join; 0: 10 min.
	StartTimeout time.Duration
	// DialTimeout is the limit for reaching the server; 0: 100 s.
	DialTimeout time.Duration
	// Patience is the limit for a response from a rank; 0: 5 s.
	Patience time.Duration
	// Long is the least duration of a measurement of a path's rate; 0: 0.1 s.
	Long time.Duration
	// Version is the program's version, for the server's log.
	Version string
	// Log receives messages about what the rank waits for; nil: discard them.
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = ":0"
	}
	if c.Network == nil {
		c.Network = transport.TCP
	}
	if c.Patience == 0 {
		c.Patience = 5 * time.Second
	}
	if c.Long == 0 {
		c.Long = 100 * time.Millisecond
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports all faults of c.
func (c Config) Validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("doctor: "+format, args...)) }
	if _, _, err := net.SplitHostPort(c.Server); err != nil {
		fault("Server: got %q, want host:port", c.Server)
	}
	if c.Total < 2 || c.Total > MaxRanks {
		fault("Total: got %d, want 2 to %d", c.Total, MaxRanks)
	}
	if c.Rank < 0 || c.Rank >= max(c.Total, 1) {
		fault("Rank: got %d, want 0 to Total-1 = %d", c.Rank, c.Total-1)
	}
	if c.Listen != "" {
		if _, err := address.Parse(c.Listen); err != nil {
			fault("Listen: %w", err)
		}
	}
	if c.Advertise != "" {
		if _, err := address.ParseAdvertise(c.Advertise); err != nil {
			fault("Advertise: %w", err)
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"StartTimeout", c.StartTimeout}, {"DialTimeout", c.DialTimeout}, {"Patience", c.Patience}, {"Long", c.Long}} {
		if d.value < 0 {
			fault("%s: got %v, want 0 or more", d.name, d.value)
		}
	}
	return errors.Join(errs...)
}
