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

// ServerConfig configures a server. The zero value is a usable server without a journal.
type ServerConfig struct {
	// StateFile is the path of the journal, which is created if it does not exist. "": no journal;
	// a restarted server then does not know finished runs.
	StateFile string

	// MaxJobs limits the jobs that fill or run; 0: 1000.
	MaxJobs int
	// MaxRanks limits the ranks of a job; 0: 16384; at most 32768.
	MaxRanks int
	// MaxPending limits the connections from one address that have not registered and
	// authenticated; 0: 1024. Of more workers that start on one host in the same second, the others
	// must try again.
	MaxPending int
	// MaxFrame limits the payload of a frame from a rank, in bytes; 0: 65536; at least 32768, which
	// a JOIN may need.
	MaxFrame int
	// MaxFinished limits the finished runs that the server remembers; 0: 10,000.
	MaxFinished int
	// FinishedAge limits the time for which it remembers them; 0: 24 h.
	FinishedAge time.Duration

	// Credentials authenticate the server and its clients to each other; nil: neither. With a
	// secret or TLS, vw workers are refused unless AllowVW is set.
	Credentials *auth.Credentials
	// Allow lists the networks from which connections are accepted; empty: all.
	Allow []netip.Prefix
	// MaxHandshakes limits the TLS handshakes that compute at the same time; one that waits for its
	// client does not count. 0: 256.
	MaxHandshakes int
	// MaxMemory limits the memory that clients occupy, in bytes; 0: 512 MiB. It consists of 16 KiB
	// for each connection and as much for its TLS, data queued for slow readers, frames of more
	// than 4 KiB while they are received, jobs, their members, the logs that ranks send, and finished
	// runs. Finished runs occupy at most a quarter, and logs an eighth; the oldest is then forgotten.
	//
	// At the limit the oldest connection that has not registered is closed, else the new one. New
	// members are refused with ServerFull, and slow readers are disconnected. Members leave 1/32 of
	// the memory to connections that have not registered, so that these can be refused with a
	// reason.
	MaxMemory int64
	// IdleTimeout limits the silence that a rank may ask for (its LostAfter), and the time that a
	// vw worker waits for its job to fill; 0: 24 h.
	IdleTimeout time.Duration

	// HandshakeTimeout limits the time of a connection to register and authenticate; 0: 10 s.
	HandshakeTimeout time.Duration
	// WriteTimeout limits the time for a client to read what it is sent; 0: 10 s. It delays no
	// other client.
	WriteTimeout time.Duration
	// PortTimeout limits the time for a vw worker to send its port when its job is complete; 0: 60
	// s.
	PortTimeout time.Duration
	// LostAfter is the silence after which a native rank is lost, unless it sets another limit; 0:
	// 10 s.
	LostAfter time.Duration
	// ReplaceTimeout limits the time to replace a lost rank, unless the job sets another limit; 0:
	// 10 min.
	ReplaceTimeout time.Duration
	// JournalTimeout limits the time for the record of a finished job to reach the disk. The job
	// then fails, although its files are delivered. It also limits the time to read the journal at
	// the start. 0: 5 min.
	JournalTimeout time.Duration
	// Grace is the time in which the ranks of a job that ran before a restart of the server may
	// reconnect, from the first of them that does. Until its end the server wires nothing for the
	// job and considers none of its ranks lost. If the journal contains an earlier term, the same
	// holds from the start of the server for every job that recovers. 0: LostAfter.
	Grace time.Duration

	// FaultDir is a directory for reports of faults, one JSON file for each stall, loss and failure,
	// with the last events of the ranks and the cause in one line; "": none. At most MaxFaultFiles
	// are written.
	FaultDir string

	// Version is the version of the program, which clients are sent.
	Version string
	// Log receives the events of the server; nil: they are discarded.
	Log *slog.Logger
}

// finishedShare is the fraction of MaxMemory that finished runs may occupy.
const finishedShare = 4

// logShare is the fraction of MaxMemory that the logs of ranks may occupy. A job may occupy a quarter of it.
const logShare = 8

// MinMemory is the lowest MaxMemory, in bytes. It suffices for the largest frame and some
// connections.
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
	protocol.SetDefault(&c.Grace, c.LostAfter)
	protocol.SetDefault(&c.ReplaceTimeout, 10*time.Minute)
	protocol.SetDefault(&c.JournalTimeout, 5*time.Minute)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports all faults of the configuration.
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
		"PortTimeout": c.PortTimeout, "IdleTimeout": c.IdleTimeout, "LostAfter": c.LostAfter, "Grace": c.Grace, "ReplaceTimeout": c.ReplaceTimeout,
		"JournalTimeout": c.JournalTimeout,
	} {
		if d < 0 {
			faults = append(faults, fmt.Errorf("spantree: %s is %v, want a positive duration", name, d))
		}
	}
	faults = append(faults, protocol.CheckText("Version", c.Version, protocol.MaxVersion), c.Credentials.Validate())
	return errors.Join(faults...)
}
