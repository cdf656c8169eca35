// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// ServerConfig says how a server works. The zero value is a good server
// without a journal.
type ServerConfig struct {
	// StateFile is the journal, created if it does not exist. "": none, and
	// a restarted server knows nothing of runs that have finished.
	StateFile string

	// MaxJobs bounds the jobs that are filling or running; 0 is 1000.
	MaxJobs int
	// MaxRanks bounds the ranks of a job; 0 is 16384, the most 32768.
	MaxRanks int
	// MaxPending bounds the connections from one address that have not said
	// yet what they want; 0 is 1024. A host that starts more workers than
	// that in the same second has the others try again.
	MaxPending int
	// MaxFrame bounds the payload, in bytes, of a frame from a rank; 0 is
	// 65536, the least 32768, which a JOIN may need.
	MaxFrame int
	// MaxFinished bounds the finished runs that are remembered; 0 is 10,000.
	MaxFinished int
	// FinishedAge is how long they are remembered; 0 is 24 h.
	FinishedAge time.Duration

	// Credentials are shown to clients and asked of them; nil: none. With a secret or
	// TLS vw's protocol is refused unless AllowVW is set.
	Credentials *auth.Credentials
	// Allow are the networks from which connections are taken; none: all.
	Allow []netip.Prefix
	// MaxHandshakes bounds the TLS handshakes that work at once; one that waits for its
	// client does not count. 0 is 256.
	MaxHandshakes int
	// MaxMemory bounds what clients may take, in bytes: 16 KiB for each connection, as much
	// again for TLS, what is queued for those that do not read, frames of more than 4 KiB
	// while they come, and what is kept of jobs, their members, and runs that have finished.
	// These take a quarter at most: the oldest is forgotten, as with MaxFinished. Over it
	// the connection that has been there for longest without saying what it wants is closed,
	// else the new one; members that come are refused with ServerFull; and who does not read
	// is cut off. Members leave a 32nd to connections that have not said what they want, so that
	// who comes then can be refused. 0 is 512 MiB.
	MaxMemory int64
	// IdleTimeout bounds the silence that a rank may ask for (its LostAfter), and the
	// time that a vw worker, which is silent, waits for its job to fill; 0 is 24 h.
	IdleTimeout time.Duration

	// HandshakeTimeout is how long a connection may take to say what it
	// wants; 0 is 10 s.
	HandshakeTimeout time.Duration
	// WriteTimeout is how long a client may take to read what it is sent;
	// 0 is 10 s. Nobody else waits for it meanwhile.
	WriteTimeout time.Duration
	// PortTimeout is how long a vw worker may take to answer with its port
	// once its job is complete; 0 is 60 s.
	PortTimeout time.Duration
	// LostAfter is the silence after which a native rank is lost that does
	// not say otherwise; 0 is 10 s.
	LostAfter time.Duration
	// ReplaceTimeout is how long a job that waits for the replacement of a
	// lost rank does so, if its ranks do not say; 0 is 10 min.
	ReplaceTimeout time.Duration
	// JournalTimeout is how long the disk may take for the record of a finished job;
	// then the job fails, though its files are delivered. It also bounds the time for
	// reading the journal at the start. 0 is 5 min.
	JournalTimeout time.Duration
	// Grace is how long a server whose journal tells of an earlier life waits
	// for the ranks of jobs that run, before it wires a job that recovers from
	// losses; 0 is LostAfter, -1 none.
	Grace time.Duration

	// Version is the program's, shown to clients.
	Version string
	// Log gets what happens; nil discards it.
	Log *slog.Logger
}

// finishedShare is which part of MaxMemory runs that have finished may take.
const finishedShare = 4

// MinMemory is the least MaxMemory: it has room for the largest frame, and for some connections.
const MinMemory = 32 << 20

func (c ServerConfig) withDefaults() ServerConfig {
	protocol.SetDefault(&c.MaxJobs, 1000)
	protocol.SetDefault(&c.MaxRanks, 16384)
	protocol.SetDefault(&c.MaxPending, 1024)
	protocol.SetDefault(&c.MaxFrame, 64<<10)
	protocol.SetDefault(&c.MaxFinished, 10_000)
	protocol.SetDefault(&c.FinishedAge, 24*time.Hour)
	protocol.SetDefault(&c.MaxHandshakes, 256)
	protocol.SetDefault(&c.MaxMemory, 512<<20)
	protocol.SetDefault(&c.IdleTimeout, 24*time.Hour)
	protocol.SetDefault(&c.HandshakeTimeout, 10*time.Second)
	protocol.SetDefault(&c.WriteTimeout, 10*time.Second)
	protocol.SetDefault(&c.PortTimeout, 60*time.Second)
	protocol.SetDefault(&c.LostAfter, 10*time.Second)
	protocol.SetDefault(&c.ReplaceTimeout, 10*time.Minute)
	protocol.SetDefault(&c.JournalTimeout, 5*time.Minute)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports everything that is wrong with the configuration.
func (c ServerConfig) Validate() error {
	c = c.withDefaults()
	var faults []error
	between := func(name string, v, low, high int) {
		if v < low || v > high {
			faults = append(faults, fmt.Errorf("spantree: %s is %d, want %d to %d", name, v, low, high))
		}
	}
	between("MaxJobs", c.MaxJobs, 1, 1<<20)
	between("MaxRanks", c.MaxRanks, 1, protocol.MaxRanksLimit)
	between("MaxPending", c.MaxPending, 1, 1<<20)
	between("MaxFrame", c.MaxFrame, protocol.FrameKinds[protocol.TypeJoin].Limit, protocol.MaxPayload)
	between("MaxFinished", c.MaxFinished, 1, 1<<20)
	between("MaxHandshakes", c.MaxHandshakes, 1, 1<<16)
	if c.MaxMemory < MinMemory {
		faults = append(faults, fmt.Errorf("spantree: MaxMemory is %d, want at least %d", c.MaxMemory, MinMemory))
	}
	for name, d := range map[string]time.Duration{
		"FinishedAge": c.FinishedAge, "HandshakeTimeout": c.HandshakeTimeout, "WriteTimeout": c.WriteTimeout,
		"PortTimeout": c.PortTimeout, "IdleTimeout": c.IdleTimeout, "LostAfter": c.LostAfter, "ReplaceTimeout": c.ReplaceTimeout,
		"JournalTimeout": c.JournalTimeout,
	} {
		if d < 0 {
			faults = append(faults, fmt.Errorf("spantree: %s is %v, want a positive duration", name, d))
		}
	}
	faults = append(faults, protocol.CheckText("Version", c.Version, protocol.MaxVersion), c.Credentials.Validate())
	return errors.Join(faults...)
}
