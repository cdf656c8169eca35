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
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// JoinConfig says which rank of which job this is, and where the server is.
type JoinConfig struct {
	// Network makes the connection; nil is transport.TCP.
	Network transport.Network
	// Server is the server's address, host:port.
	Server string
	// Credentials are shown to the server and asked of it; nil: none.
	Credentials *auth.Credentials
	// Job names the job.
	Job protocol.Job
	// Owner is what who cancels the job must have; nil: who may talk to the server may.
	// All ranks have the same.
	Owner *auth.Secret
	// Rank is 0 to Total-1, Total the number of ranks, the same everywhere.
	Rank, Total int
	// Spare makes this a process without a rank, whatever Rank says: it takes that of one
	// that is lost (see [Member.Assigned]). OnLoss must be Wait.
	Spare bool
	// Generation counts a launcher's restarts of the whole job. A higher one
	// ends a lower one.
	Generation uint32
	// Attempt tells attempts of a rank apart; 0: drawn.
	Attempt uint64
	// Advertise is the host:port of this rank's data listener. With an empty
	// host others use the address that the server sees.
	Advertise string
	// Host is this machine's name for messages; "": the address that the
	// server sees.
	Host string
	// Options are what all ranks must share, as words "bits=18 loss=logistic".
	// A rank whose options differ is refused, and told which.
	Options string
	// Version is the program's.
	Version string

	// OnLoss says what the job does about the loss of a rank, ReplaceTimeout how long
	// it waits for another attempt of it (0: the server's default), SlowFactor how many
	// times the median a rank may take for a byte before a faster attempt takes its
	// place (0: as long as it likes). All ranks say the same.
	OnLoss         protocol.OnLoss
	ReplaceTimeout time.Duration
	SlowFactor     float64
	// Elastic is the time after which the job starts without the ranks that have not come,
	// counted from when the first one has; 0: it waits for all. OnLoss must not be Abort, and
	// Job needs a run key. All ranks say the same.
	Elastic time.Duration
	// Checkpoint is the step of the checkpoint that this rank can read; 0: none.
	Checkpoint uint64

	DialTimeout   time.Duration // to reach the server, trying once a second; 0 is 100 s, as vw
	StartTimeout  time.Duration // until all ranks have joined, twice that with Elastic; 0 is 10 min
	Heartbeat     time.Duration // 0 is 1 s
	LostAfter     time.Duration // of silence this rank is lost; 0 is 10 s
	ServerTimeout time.Duration // of silence the server is away; 0 is 10 min

	// Waiting is sampled at each heartbeat: what this rank waits for, "" is
	// nothing. nil: never anything.
	Waiting func() Waits
	// Place is asked how far this rank is, when an epoch ends or a server has to learn
	// it. nil: at the beginning, for ever.
	Steps StepTracker
	// Log gets what a person who waits wants to know; nil discards it.
	Log *slog.Logger
}

// Place says how far a rank is. Its methods are called by the membership's own
// goroutine and must return at once.
type StepTracker interface {
	// At is how far this rank is.
	Position() Position
	// Fence is At, and ends the epoch on this rank: a step of it that is not completed
	// yet is not completed in it.
	Seal(e protocol.Epoch) Position
}

// At is how far a rank is.
type Position struct {
	Completed Point // the newest step; zero: none
	Work      bool  // it has the contribution to the next one
	WaitsFor  int   // a rank; -1: for none
}

type noSteps struct{}

func (noSteps) Position() Position           { return Position{WaitsFor: -1} }
func (noSteps) Seal(protocol.Epoch) Position { return Position{WaitsFor: -1} }

// Intervals of a client.
const (
	dialPause      = time.Second      // between attempts to reach the server, as vw
	attemptTimeout = 10 * time.Second // for one attempt
	logInterval    = 10 * time.Second // the log says what a rank waits for
	writeTimeout   = 10 * time.Second
	leaveTimeout   = time.Second // Close waits so long for the server to answer
)

func (c JoinConfig) withDefaults() JoinConfig {
	if c.Network == nil {
		c.Network = transport.TCP
	}
	protocol.SetDefault(&c.DialTimeout, 100*time.Second)
	protocol.SetDefault(&c.StartTimeout, 10*time.Minute)
	protocol.SetDefault(&c.Heartbeat, time.Second)
	protocol.SetDefault(&c.LostAfter, 10*time.Second)
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

// Validate reports everything that is wrong with the configuration.
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

// Join registers a rank. It keeps trying to reach the server until
// DialTimeout, as vw workers do. A refusal, a *RefusedError, is final if the server is
// authenticated; another one must be repeated (see attempts).
//
// vw's own server is recognised by its answer, twice in a row. It learns of this rank when
// [Member.Ready] is called, as of any vw worker.
func Join(ctx context.Context, cfg JoinConfig) (*Member, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	if cfg.Spare {
		cfg.Rank = -1
	}
	for cfg.Attempt == 0 {
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
		cfg.Log.Warn("the server is vw's own: joining as a vw worker, and a loss ends the job", "server", cfg.Server)
		return &Member{cfg: cfg, over: make(chan struct{}), vwServer: true}, nil
	}
	return m, err
}

// errVWServer says that the far end answers as vw's own spanning_tree does.
var errVWServer = errors.New("the server answers as vw's own does")

// joinOnce makes one attempt.
func joinOnce(ctx context.Context, cfg JoinConfig) (*Member, error) {
	var joined *protocol.JoinedFrame
	g := cfg.endpoint()
	conn, frames, err := g.connect(ctx, func(c net.Conn, r *protocol.FrameReader) (err error) {
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
	return newMember(cfg, conn, frames, joined), nil
}

// notVW refuses a server that answers as vw's own does. The four bytes of that answer may
// have been changed on the way.
func (g endpoint) notVW(format string, args ...any) error {
	return &protocol.RefusedError{ByClient: true, Server: g.server, Code: protocol.VersionDiffers, Reason: fmt.Sprintf(format, args...), Unauthenticated: true}
}

// beyondVW returns what the configuration asks for that vw's server cannot do, "" if it can
// do everything.
func (c *JoinConfig) unsupportedByVW() string {
	switch {
	case c.Spare:
		return "a spare"
	case c.OnLoss != protocol.Abort:
		return fmt.Sprintf("recovery from losses (--on_loss %v)", c.OnLoss)
	case c.Elastic > 0:
		return "a start without all ranks (--elastic)"
	case c.Job.RunKey != "":
		return fmt.Sprintf("the run key %q (--run_id)", c.Job.RunKey)
	case c.Owner != nil:
		return "an owner (--job_token)"
	}
	return ""
}

func (c *JoinConfig) endpoint() endpoint { return endpoint{c.Network, c.Server, c.Credentials} }

// join is the JOIN of an attempt that begins.
func (c *JoinConfig) joinFrame() *protocol.JoinFrame {
	host, port, _ := splitAdvertise(c.Advertise) // Validate has looked at it
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
	return nil, &protocol.FrameError{Type: protocol.TypeOf(f), Err: errors.New("a server answers JOIN by JOINED or REFUSED")}
}
