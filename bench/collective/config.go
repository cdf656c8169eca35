// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Transports lists the valid values of Config.Transport.
var Transports = []string{"tcp", "shm", "mem", "verbs"}

// Config selects what is measured. Each field's comment gives the meaning of its zero value.
type Config struct {
	// Ranks is the number of processes, 2 to 4096. Required.
	Ranks int
	// Transport carries the bytes. "tcp" uses the loopback interface, "shm" memory shared by
	// the processes, "mem" channels within one process, and "verbs" an RDMA device of this
	// machine that reaches itself. "" means tcp.
	Transport string
	// Sizes are the lengths of the vectors in bytes, multiples of 4. Empty: 4 B, 64 KiB, 1 MiB
	// and 16 MiB.
	Sizes []int
	// Schedules names our schedules to measure, from Schedules(). Empty: "auto".
	Schedules []string
	// NoChecksum leaves out the CRC-32C of each chunk.
	NoChecksum bool
	// Alloc also measures vectors from allreduce.Alloc, as system gvw_alloc: shared memory that
	// no call copies, or registered memory with verbs. Valid only with shm and verbs.
	Alloc bool
	// TLS also measures our all-reduce over TLS, as system gvw_tls. Valid only with tcp.
	TLS bool
	// Secret also measures our all-reduce with a secret, whose tags replace the checksums, as
	// system gvw_secret. Valid only with tcp.
	Secret bool
	// Rounds is the number of turns of each system; 0 means 3.
	Rounds int
	// PerSize is the time for the batches of one size in one round; 0 means 300 ms. At least
	// five batches run, however long they take.
	PerSize time.Duration
	// Patience is the time limit of one turn of one system; 0 means 1 min.
	Patience time.Duration
	// Self is the command line that starts one rank; Run appends the rank's task (see Serve).
	// Required except with mem.
	Self []string
	// Peers also measures the other systems. Not valid with mem.
	Peers bool
	// Python is an interpreter that has xgboost and vowpalwabbit; "" means python3.
	Python string
	// TraceDir is the folder for execution traces of our ranks that wait for long; "" writes
	// none.
	TraceDir string
	// Log receives a record for each turn; nil discards it.
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Transport == "" {
		c.Transport = "tcp"
	}
	if len(c.Sizes) == 0 {
		c.Sizes = []int{4, 64 << 10, 1 << 20, 16 << 20}
	}
	if len(c.Schedules) == 0 {
		c.Schedules = []string{"auto"}
	}
	if c.Rounds == 0 {
		c.Rounds = 3
	}
	if c.PerSize == 0 {
		c.PerSize = 300 * time.Millisecond
	}
	if c.Patience == 0 {
		c.Patience = time.Minute
	}
	if c.Python == "" {
		c.Python = "python3"
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

const (
	maxRanks = 4096
	maxBytes = 1 << 30
)

// Validate reports all faults of c.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("collective: "+format, args...)) }
	if c.Ranks < 2 || c.Ranks > maxRanks {
		fault("Ranks: got %d, want 2 to %d", c.Ranks, maxRanks)
	}
	if !slices.Contains(Transports, c.Transport) {
		fault("Transport: got %q, want one of %v", c.Transport, Transports)
	}
	for _, n := range c.Sizes {
		if n < 4 || n > maxBytes || n%4 != 0 {
			fault("Sizes: got %d, want multiples of 4 up to %d", n, maxBytes)
		}
	}
	for _, s := range c.Schedules {
		if !slices.Contains(Schedules(), s) {
			fault("Schedules: got %q, want one of %v", s, Schedules())
		}
	}
	if c.Rounds < 0 {
		fault("Rounds: got %d, want 0 or more", c.Rounds)
	}
	if c.PerSize < 0 || c.Patience < 0 {
		fault("PerSize and Patience: got %v and %v, want 0 or more", c.PerSize, c.Patience)
	}
	if c.Transport != "mem" && len(c.Self) == 0 {
		fault("Self is missing: how is a rank started?")
	}
	if c.Transport != "shm" && c.Transport != "verbs" && c.Alloc {
		fault("Alloc: it is about shared or registered memory: want transport shm or verbs, got %q", c.Transport)
	}
	if c.Transport != "tcp" && c.TLS {
		fault("TLS: want transport tcp, got %q", c.Transport)
	}
	if c.Transport != "tcp" && c.Secret {
		fault("Secret: want transport tcp, got %q", c.Transport)
	}
	if c.NoChecksum && c.Secret {
		fault("Secret: its tags are in the place of the checksums: NoChecksum does not go with it")
	}
	if c.Transport == "mem" && c.Peers {
		fault("Peers: no other system runs inside one process: want transport tcp")
	}
	return errors.Join(errs...)
}
