// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/monitor/ranklog"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// JoinConfig identifies a rank, its job and its server. Fields of the group "agreement" must be
// the same on all ranks of a job; the server refuses a rank that differs.
type JoinConfig struct {
	// Server

	// Network dials the server; nil: transport.TCP.
	Network transport.Network
	// Server is the address of the server, host:port.
	Server string
	// Credentials authenticate this client and the server to each other; nil: neither.
	Credentials *auth.Credentials

	// Identity of this attempt

	// Job identifies the job.
	Job protocol.Job
	// Rank is 0 to Total-1.
	Rank int
	// Spare makes this a process without a rank: Rank is ignored, and [Member.Assigned] returns
	// the lost rank that it takes. OnLoss must be Wait.
	Spare bool
	// Generation is the number of restarts of the whole job by its launcher. A higher generation
	// ends a lower one.
	Generation uint32
	// Attempt distinguishes the attempts of a rank; 0: a random number.
	Attempt uint64
	// Advertise is the host:port of this rank's data listener. With an empty host, other ranks use
	// the source address of the connection to the server.
	Advertise string
	// Host is the name of this machine in messages; "": the source address as above.
	Host string
	// Version is the version of the program.
	Version string
	// Checkpoint is the step of the checkpoint that this rank can read; 0: none.
	Checkpoint uint64

	// Agreement

	// Total is the number of ranks.
	Total int
	// Options are options that all ranks must share, as words "bits=18 loss=logistic". The refusal
	// of a rank with other options names the differences.
	Options string
	// Owner is the secret that cancels the job; nil: every client of the server may cancel it.
	Owner *auth.Secret
	// OnLoss is the reaction of the job to the loss of a rank.
	OnLoss protocol.OnLoss
	// ReplaceTimeout limits the wait for another attempt of a lost rank; 0: the server's default.
	ReplaceTimeout time.Duration
	// SlowFactor is the multiple of the median time per byte from which a rank is handed over to
	// a faster attempt; up to 1: never.
	SlowFactor float64
	// Elastic is the time after which the job starts without missing ranks, from the join of its
	// first rank; 0: it waits for all. It has requirements, see [protocol.CheckElastic].
	Elastic time.Duration

	// Limits

	DialTimeout   time.Duration // to reach the server; 0: 100 s, as vw
	StartTimeout  time.Duration // during which ranks may be missing, twice that with Elastic, at least 30 s more; 0: 10 min
	Heartbeat     time.Duration // interval of heartbeats; 0: 1 s, or longer in large jobs (usualHeartbeat)
	LostAfter     time.Duration // silence after which the server considers this rank lost; 0: 10 s
	ServerTimeout time.Duration // silence after which this rank gives up the server; 0: 10 min

	// Callbacks

	// Waiting returns the event that this rank waits for. Each heartbeat calls it; it must return
	// at once. nil: the rank never waits.
	Waiting func() Waits
	// Steps tracks the completed steps of this rank; nil: it never completes one.
	Steps StepTracker
	// Events has the last events of this rank, which the server collects after a fault; nil: none.
	Events *events.Ring
	// Traffic returns the counts of this rank. Each heartbeat calls it; it must return at once. nil: none are sent.
	Traffic func() *traffic.Counts
	// Clock measures its offset from the server's clock; nil: there is no exchange.
	Clock Clock
	// Logs has the lines of the log that go to the server; nil: none do.
	Logs *ranklog.Queue
	// Log receives the progress of the job; nil: it is discarded.
	Log *slog.Logger
}

// StepTracker tracks the steps that a rank has completed. The goroutines of the membership call
// its methods, which must return at once.
type StepTracker interface {
	// Position returns the current position.
	Position() Position
	// Seal ends the epoch on this rank, and returns the final position in it: a step that is not
	// completed now will not be completed in this epoch.
	Seal(e protocol.Epoch) Position
}

// Position is the progress of a rank.
type Position struct {
	Completed Point // the newest completed step; zero: none
	Work      bool  // the contribution to the next step is in hand
	WaitsFor  int   // rank for which it waits; -1: none
}

// noSteps is the StepTracker of a rank that never completes a step.
type noSteps struct{}

func (noSteps) Position() Position           { return Position{WaitsFor: -1} }
func (noSteps) Seal(protocol.Epoch) Position { return Position{WaitsFor: -1} }

// Times of a client.
const (
	dialPause      = time.Second      // between attempts to reach the server, as in vw
	attemptTimeout = 10 * time.Second // of one attempt
	logInterval    = 10 * time.Second // of log lines while a rank waits
	writeTimeout   = 10 * time.Second
	leaveTimeout   = time.Second // of Close, for the server's answer
	askTimeout     = time.Second // of Ask, for the acknowledgement
)

func (c JoinConfig) withDefaults() JoinConfig {
	if c.Network == nil {
		c.Network = transport.TCP
	}
	protocol.SetDefault(&c.DialTimeout, 100*time.Second)
	protocol.SetDefault(&c.StartTimeout, 10*time.Minute)
	protocol.SetDefault(&c.LostAfter, 10*time.Second)
	protocol.SetDefault(&c.Heartbeat, usualHeartbeat(c.Total, c.LostAfter))
	protocol.SetDefault(&c.ServerTimeout, 10*time.Minute)
	if c.Waiting == nil {
		c.Waiting = func() Waits { return Waits{Rank: -1} }
	}
	if c.Steps == nil {
		c.Steps = noSteps{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports all faults of the configuration.
func (c JoinConfig) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("spantree: "+format, args...)) }
	if _, _, err := net.SplitHostPort(c.Server); err != nil {
		fault("server %q is not host:port: %w", c.Server, err)
	}
	switch {
	case c.Total < 1 || c.Total > topo.MaxSize:
		fault("total is %d, want 1 to %d", c.Total, topo.MaxSize)
	case c.Spare && c.OnLoss != protocol.Wait:
		fault("a spare of a job with OnLoss %v: only one that waits for replacements (wait) can use it", c.OnLoss)
	case !c.Spare && (c.Rank < 0 || c.Rank >= c.Total):
		fault("rank is %d, want 0 to %d", c.Rank, c.Total-1)
	}
	if c.Elastic > 0 {
		for _, e := range protocol.CheckElastic(c.OnLoss, c.Job.RunKey) {
			fault("Elastic: %w", e)
		}
	}
	if host, _, err := splitAdvertise(c.Advertise); err != nil {
		fault("the advertised address %q is not host:port: %w", c.Advertise, err)
	} else {
		faults = append(faults, protocol.CheckText("the advertised host", host, protocol.MaxHost))
	}
	faults = append(faults, protocol.CheckText("Host", c.Host, protocol.MaxHost), protocol.CheckText("the run key", c.Job.RunKey, protocol.MaxRunKey),
		protocol.CheckText("Options", c.Options, protocol.MaxOptions), protocol.CheckText("Version", c.Version, protocol.MaxVersion))
	faults = append(faults, c.Credentials.Validate())
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"DialTimeout", c.DialTimeout},
		{"StartTimeout", c.StartTimeout},
		{"Heartbeat", c.Heartbeat},
		{"LostAfter", c.LostAfter},
		{"ServerTimeout", c.ServerTimeout},
		{"Elastic", c.Elastic},
	} {
		if d.value < 0 {
			fault("%s is %v, want a positive duration", d.name, d.value)
		}
	}
	return errors.Join(faults...)
}

// splitAdvertise splits JoinConfig.Advertise. An empty string is valid: the rank has no data
// listener.
func splitAdvertise(s string) (host string, port uint16, err error) {
	if s == "" {
		return "", 0, nil
	}
	host, p, err := net.SplitHostPort(s)
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.ParseUint(p, 10, 16)
	return host, uint16(n), err
}

// Join registers a rank at the server. Like a vw worker it tries to reach the server until
// DialTimeout. A *RefusedError is final if the server is authenticated; an unauthenticated refusal
// must be repeated before Join returns it (see [attempts]).
//
// vw's own server is recognised by its answer to the hello, twice in a row. Join then returns a
// Member that registers as a vw worker in [Member.Ready].
func Join(ctx context.Context, cfg JoinConfig) (*Member, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	if cfg.Spare {
		cfg.Rank = -1
	}
	for cfg.Attempt == 0 { // 0 means "no number", so the random number must differ from it
		var b [8]byte
		protocol.Random(b[:])
		cfg.Attempt = binary.LittleEndian.Uint64(b[:])
	}
	var m *Member
	err := retry(ctx, cfg, func(ctx context.Context) (err error) {
		m, err = joinOnce(ctx, cfg)
		return err
	})
	if errors.Is(err, errVWServer) {
		// The registration follows in Ready, since vw's server never frees the rank of a worker that
		// has left.
		cfg.Log.Warn("the server is vw's own: joining as a vw worker, and a loss ends the job", "server", cfg.Server)
		return &Member{cfg: cfg, over: make(chan struct{}), vwServer: true}, nil
	}
	return m, err
}

// errVWServer reports that the server answers as vw's own spanning_tree does.
var errVWServer = errors.New("the server answers as vw's own does")

// joinOnce makes one attempt to join.
func joinOnce(ctx context.Context, cfg JoinConfig) (*Member, error) {
	var joined *protocol.JoinedFrame
	var at time.Time
	g := cfg.endpoint()
	conn, frames, err := g.connect(ctx, func(c net.Conn, r *protocol.FrameReader) (err error) {
		at = time.Now()
		joined, err = register(c, r, &cfg, cfg.joinFrame())
		return err
	})
	if errors.Is(err, errVWServer) {
		if needs := cfg.unsupportedByVW(); needs != "" {
			return nil, g.notVW("vw's own server answers, or one that takes this program for vw: %s needs gvw's spanning_tree", needs)
		}
	}
	if err != nil {
		return nil, err
	}
	return newMember(cfg, conn, frames, joined, at), nil
}

// notVW returns the refusal of a server that answers as vw's own does. It is not authenticated:
// the four zero bytes of that answer may have been changed on the way.
func (g endpoint) notVW(format string, args ...any) error {
	return &protocol.RefusedError{ByClient: true, Server: g.server, Code: protocol.VersionDiffers, Reason: fmt.Sprintf(format, args...), Unauthenticated: true}
}

// unsupportedByVW returns a requested feature that vw's own server lacks; "": none.
func (c *JoinConfig) unsupportedByVW() string {
	switch {
	case c.Spare:
		return "a spare"
	case c.OnLoss != protocol.Abort:
		return fmt.Sprintf("recovery from losses (allreduce.Config.OnLoss=%v)", c.OnLoss)
	case c.Elastic > 0:
		return "a start without all ranks (allreduce.Config.Elastic)"
	case c.Job.RunKey != "":
		return fmt.Sprintf("the run ID %q", c.Job.RunKey)
	case c.Owner != nil:
		return "an owner (allreduce.Config.Owner)"
	}
	return ""
}

func (c *JoinConfig) endpoint() endpoint { return endpoint{c.Network, c.Server, c.Credentials} }

// joinFrame returns the JOIN of a new attempt.
func (c *JoinConfig) joinFrame() *protocol.JoinFrame {
	host, port, _ := splitAdvertise(c.Advertise) // checked by Validate
	rank := uint32(protocol.NoRank)
	if c.Rank >= 0 {
		rank = uint32(c.Rank)
	}
	f := &protocol.JoinFrame{
		UniqueID: c.Job.UniqueID, RunKey: c.Job.RunKey, Rank: rank, Total: uint32(c.Total),
		Generation: c.Generation, Attempt: c.Attempt,
		Heartbeat: c.Heartbeat, LostAfter: c.LostAfter, Options: c.Options, OptionsSHA256: sha256.Sum256([]byte(c.Options)),
		Port: port, AdvertiseHost: host, Host: c.Host, Version: c.Version,
		OnLoss: c.OnLoss, ReplaceTimeout: c.ReplaceTimeout, SlowFactor: c.SlowFactor, Elastic: c.Elastic,
	}
	if c.Events != nil {
		f.Capabilities |= protocol.CanSendEvents
	}
	if c.Owner != nil {
		f.Owner = sha256.Sum256(claim(c.Owner))
	}
	return f
}

// register sends JOIN and reads the answer.
func register(conn net.Conn, frames *protocol.FrameReader, cfg *JoinConfig, join *protocol.JoinFrame) (*protocol.JoinedFrame, error) {
	b, err := protocol.AppendFrame(nil, join)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(b); err != nil {
		return nil, err
	}
	f, err := frames.Next()
	if err != nil {
		return nil, fmt.Errorf("no answer to JOIN: %w", err)
	}
	switch f := f.(type) {
	case *protocol.JoinedFrame:
		return f, nil
	case *protocol.RefusedFrame:
		return nil, cfg.endpoint().refusal(f)
	}
	return nil, &protocol.FrameError{Type: protocol.TypeOf(f), Err: errors.New("want JOINED or REFUSED in answer to JOIN")}
}
