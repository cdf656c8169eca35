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

// MaxRanks is how many ranks are examined at once: their ways grow with the square.
const MaxRanks = 256

// Config says who takes part. The fields are those of allreduce.Config.
type Config struct {
	// Server is the spanning-tree server, host:port. Required.
	Server string
	// Job names the examination; no other job may have its name.
	Job protocol.Job
	// Credentials are shown and asked for, as in allreduce.Config.
	Credentials *auth.Credentials
	// Rank is this process's number, 0 to Total-1, of 2 to MaxRanks.
	Rank, Total int
	// Listen and Advertise are the addresses to be examined; "" as in allreduce.Config.
	Listen, Advertise string
	// Network carries everything; nil is transport.TCP.
	Network transport.Network
	// StartTimeout is how long to wait until all ranks have joined; 0 is 10 min.
	StartTimeout time.Duration
	// DialTimeout is how long to try to reach the server; 0 is 100 s.
	DialTimeout time.Duration
	// Patience is how long a rank may take to answer; 0 is 5 s.
	Patience time.Duration
	// Long is the time for which a way's rate is measured, at least; 0 is 0.1 s.
	Long time.Duration
	// Version is the program's, for the server's log.
	Version string
	// Log hears of what is waited for; nil discards it.
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

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("doctor: "+format, args...)) }
	if _, _, err := net.SplitHostPort(c.Server); err != nil {
		fault("Server: got %q, want host:port", c.Server)
	}
	if c.Total < 2 || c.Total > MaxRanks {
		fault("Total: got %d, want 2 to %d: a rank alone has nobody to reach", c.Total, MaxRanks)
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
