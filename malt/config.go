// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Job names a job at its server: a number, and the key of a run.
type Job = protocol.Job

// Progress is how far a rank has come, as gvw jobs and the page show it.
type Progress = protocol.Progress

// OnLoss is a job's policy on the loss of a rank.
type OnLoss = protocol.OnLoss

// The policies on the loss of a rank.
const (
	Abort  OnLoss = protocol.Abort  // end the job
	Wait   OnLoss = protocol.Wait   // wait for another attempt of the rank, which takes the values of another rank
	Shrink OnLoss = protocol.Shrink // continue without the rank
	// Grow continues without the rank, and takes back a later attempt of it, as with Wait. Job needs a RunKey, by which
	// an attempt that is too late is recognised.
	Grow OnLoss = protocol.Grow
)

// defaultDialTimeout is the default of Config.DialTimeout.
const defaultDialTimeout = 100 * time.Second

// defaultLostAfter is the default of Config.LostAfter.
const defaultLostAfter = 10 * time.Second

// defaultStall is the default of Config.Stall.
const defaultStall = 20 * time.Second

// leastStall is the least Config.Stall: a connection is probed some times within it.
const leastStall = time.Millisecond

// Config describes this rank and its job. Server, Job, Total, OnLoss and Passes are the same on all ranks.
type Config struct {
	Server string // the server's host:port
	Job    Job    // the name of the job
	Rank   int    // this process's number, 0 to Total-1
	Spare  bool   // this process has no rank, and takes the first one that is lost; OnLoss is Wait. Rank is ignored
	Total  int    // ranks of the job, at least 1
	OnLoss OnLoss // policy on the loss of a rank; the zero value is Abort
	Passes int    // passes that the program makes, by which the page shows the remaining time (Group.Report); 0: unknown

	Network     transport.Network // carries all connections; nil: transport.TCP
	Listen      string            // address for other ranks, host:port; "": ":0", all addresses and any port
	Advertise   string            // address that others are told; "": that of Listen
	Allow       []netip.Prefix    // networks from which ranks may connect; none: all
	Credentials *auth.Credentials // secret and TLS; nil: none
	Owner       *auth.Secret      // needed to cancel the job, the same on all ranks; nil: every client of the server may
	Host        string            // name of this machine in messages; "": the address that the server sees

	// NoSharedMemory sends updates over the network to ranks of the same machine, too. False: where both ranks can, the
	// sender writes to the receiver's memory.
	NoSharedMemory bool
	// Verbs is the RDMA device through which updates are written to the memory of ranks on other machines: a name (mlx5_0,
	// mlx5_0:2), one of its IP addresses, or "auto". "": none. Ranks that cannot use theirs stay with TCP.
	Verbs string
	// VerbsMemory is the largest memory of this rank that is registered for updates by RDMA, in bytes. Receive queues that
	// would exceed it are not registered: their updates go over TCP. 0: no limit but that of the system (ulimit -l).
	VerbsMemory int64

	DialTimeout  time.Duration // to reach the server or another rank; 0: 100 s
	StartTimeout time.Duration // until all ranks have joined; 0: 10 min
	Heartbeat    time.Duration // interval of messages to the server; 0: as allreduce.Config.Heartbeat
	LostAfter    time.Duration // silence after which the server counts this rank as lost; 0: 10 s
	// ReplaceTimeout is the time in which another attempt of a lost rank must join; 0: the server's, usually 10 min.
	// Only with Wait.
	ReplaceTimeout time.Duration
	// Elastic is the time after the join of the first rank at which the job starts without the missing ranks; 0:
	// it waits for all. OnLoss must not be Abort, and Job needs a RunKey. With Grow a missing rank joins when it comes.
	Elastic       time.Duration
	ServerTimeout time.Duration // silence after which this rank gives up the server; 0: 10 min
	// Stall is the time without a byte after which a connection to another rank counts as broken, and after which
	// the server is asked about one that does not open. 0: 20 s. More than LostAfter, so that a rank whose process is
	// stopped is found by its silence towards the server; at least 1 ms.
	Stall time.Duration

	Log *slog.Logger // events; nil: none

	library verbs.Library // source of RDMA devices; nil is libibverbs
}

func (c Config) withDefaults() Config {
	if c.Network == nil {
		c.Network = transport.TCP
	}
	if c.DialTimeout == 0 {
		c.DialTimeout = defaultDialTimeout
	}
	if c.LostAfter == 0 {
		c.LostAfter = defaultLostAfter
	}
	if c.Stall == 0 {
		c.Stall = defaultStall
	}
	if c.library == nil {
		c.library = verbs.System()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports all faults.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("malt: "+format, args...)) }
	for _, err := range c.mesh().Faults() {
		fault("%w", err)
	}
	if c.OnLoss > Grow {
		fault("OnLoss: got %v, want abort, wait, shrink or grow", c.OnLoss)
	}
	if c.OnLoss == Grow && c.Job.RunKey == "" {
		fault("Job.RunKey: a job that grows needs a run key: a rank that joins after the end would start the job again")
	}
	if c.Elastic != 0 {
		for _, err := range protocol.CheckElastic(c.OnLoss, c.Job.RunKey) {
			fault("Elastic: %w", err)
		}
	}
	if c.Stall != 0 && c.Stall < leastStall {
		fault("Stall: got %v, want at least %v, or 0 for %v", c.Stall, leastStall, defaultStall)
	}
	if err := verbs.CheckDevice(c.Verbs); err != nil {
		fault("Verbs: %w", err)
	}
	if c.VerbsMemory < 0 {
		fault("VerbsMemory: got %d, want 0 bytes or more", c.VerbsMemory)
	}
	if err := c.join("").Validate(); err != nil && len(faults) == 0 {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// replaces reports whether a rank may join while the others train.
func (c Config) replaces() bool { return c.OnLoss.Replaces() }

// rank returns Rank, or -1 for a spare.
func (c Config) rank() int {
	if c.Spare {
		return -1
	}
	return c.Rank
}

// mesh returns the part that describes connections to other ranks.
func (c Config) mesh() mesh.Config {
	return mesh.Config{
		Network: c.Network, Listen: c.Listen, Advertise: c.Advertise, Allow: c.Allow,
		Credentials: c.Credentials, Job: c.Job, Rank: c.rank(), Total: c.Total, Log: c.Log,
	}
}

// options returns the text by which the server compares the ranks and the page knows the passes.
func (c Config) options() string {
	if c.Passes > 0 {
		return fmt.Sprintf("library=malt passes=%d", c.Passes)
	}
	return "library=malt"
}

// join returns the part that describes the membership.
func (c Config) join(advertise string) client.JoinConfig {
	return c.mesh().Join(client.JoinConfig{
		Server: c.Server, Owner: c.Owner, Spare: c.Spare, Advertise: advertise, Host: c.Host, Options: c.options(),
		OnLoss: c.OnLoss, ReplaceTimeout: c.ReplaceTimeout, Elastic: c.Elastic,
		DialTimeout: c.DialTimeout, StartTimeout: c.StartTimeout, Heartbeat: c.Heartbeat,
		LostAfter: c.LostAfter, ServerTimeout: c.ServerTimeout,
	})
}
