// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Transports are what Config.Transport may be.
var Transports = []string{"tcp", "shm", "mem", "verbs"}

// Config says what to measure. The zero value of a field means what its
// comment says.
type Config struct {
	// Ranks is how many processes take part, 2 to 4096. Required.
	Ranks int
	// Transport carries the bytes: "tcp" over the loopback, "shm", memory that the
	// processes share, "mem", channels within one process, or "verbs", an RDMA device of
	// this machine that reaches itself. "" is tcp.
	Transport string
	// Sizes are the lengths of the vectors in bytes, multiples of 4. None: 4 B,
	// 64 KiB, 1 MiB and 16 MiB.
	Sizes []int
	// Schedules are those of ours to measure, from Schedules(). None: "auto".
	Schedules []string
	// NoChecksum leaves out the CRC-32C of each chunk.
	NoChecksum bool
	// Alloc measures our shared memory with vectors from allreduce.Alloc too, which no
	// call copies, as system gvw_alloc; over verbs, registered memory. Over these two alone.
	Alloc bool
	// TLS measures ours over TLS too, as system gvw_tls. Over tcp alone.
	TLS bool
	// Secret measures ours with a secret too, whose tags are in the place of the checksums,
	// as system gvw_secret. Over tcp alone.
	Secret bool
	// Rounds is how often every system has its turn; 0 is 3.
	Rounds int
	// PerSize is the time for the batches of one size in one round; 0 is
	// 300 ms. At least five batches are run however long they take.
	PerSize time.Duration
	// Patience is the time after which one turn of one system is given up; 0 is
	// 1 min.
	Patience time.Duration
	// Self is the command line that becomes one rank, to which the rank's task
	// is appended (see Serve). Required but over mem.
	Self []string
	// Peers measures the other systems beside ours. Not over mem.
	Peers bool
	// Python starts an interpreter that has xgboost and vowpalwabbit; "" is
	// python3.
	Python string
	// TraceDir is where our ranks write execution traces when they wait for long; "": none.
	TraceDir string
	// Log hears whose turn it is; nil discards it.
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

// Validate reports everything that is wrong with c.
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
