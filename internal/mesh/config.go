// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Config describes this rank to the other ranks of its job.
type Config struct {
	// Network carries the connections; nil is transport.TCP.
	Network transport.Network
	// Listen is the address on which other ranks reach this one, host:port, in the syntax of
	// [address.Parse]. "" is ":0": all addresses, any free port.
	Listen string
	// Advertise is the address that the server passes to other ranks, in the syntax of
	// [address.ParseAdvertise]. "" is the host and port of Listen.
	Advertise string
	// Allow is the networks from which other ranks may connect. If empty, all may.
	Allow []netip.Prefix

	// Credentials are proved to other ranks and required of them. If nil, the token of the
	// epoch is the only proof.
	Credentials *auth.Credentials
	// NoTags leaves the frames of connections without tags, although there is a secret. All
	// ranks agree on it.
	NoTags bool

	// Job is part of what the handshakes prove. All ranks have the same.
	Job protocol.Job
	// Rank is this process's number, 0 to Total-1; negative: a spare, which has none yet.
	Rank int
	// Total is the number of ranks with which the job began.
	Total int

	// Log receives refused connections and failed attempts; nil discards them.
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Network == nil {
		c.Network = transport.TCP
	}
	if c.Listen == "" {
		c.Listen = ":0"
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Join returns j with the fields that connections to the server and to other ranks have in common.
func (c Config) Join(j client.JoinConfig) client.JoinConfig {
	j.Network, j.Credentials, j.Log = c.Network, c.Credentials, c.Log
	j.Job, j.Rank, j.Total = c.Job, c.Rank, c.Total
	return j
}

// Faults returns an error for each field that is invalid, beginning with its name.
func (c Config) Faults() (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Total < 1 || c.Total > topo.MaxSize {
		fault("Total: got %d, want 1 to %d", c.Total, topo.MaxSize)
	}
	if c.Rank >= max(c.Total, 1) {
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
	if plain := c; c.NoTags {
		if plain.NoTags = false; !plain.Tagged() {
			fault("NoTags: frames have tags only with a secret and without TLS: leave it out")
		}
	}
	if err := c.Credentials.Validate(); err != nil {
		fault("Credentials: %w", err)
	}
	return faults
}

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	faults := c.Faults()
	for i, err := range faults {
		faults[i] = fmt.Errorf("mesh: %w", err)
	}
	return errors.Join(faults...)
}

// Tagged reports whether frames between ranks have tags instead of checksums. They have tags with
// a secret, except under TLS, which authenticates every record itself.
func (c Config) Tagged() bool {
	return c.Credentials != nil && c.Credentials.Secret != nil && c.Credentials.TLS == nil && !c.NoTags
}

// key returns the key with which the members of an epoch prove that they belong to it.
func (c Config) key(w *client.Wiring) auth.Key {
	return c.Credentials.Epoch(auth.Scope{
		UniqueID: c.Job.UniqueID, RunKey: c.Job.RunKey,
		Term: w.Epoch.Term, N: w.Epoch.N, Incarnation: w.Epoch.Incarnation, Token: w.Token,
	})
}
