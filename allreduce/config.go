// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/internal/epoch"
	"github.com/gvw-project/gvw/allreduce/internal/rdma"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/timeline"
)

// Config describes a rank: its job, its server, and how it communicates. The comment of each
// field has the meaning of its zero value. Fields on which the ranks must agree are marked
// "Equal on all ranks".
type Config struct {
	// Server is the address of the spanning-tree server, host or host:port. Required;
	// the default port is 26543.
	Server string
	// Job names the job: vw's unique_id, and the run key of a launcher.
	Job Job
	// Rank is this process's number, 0 to Total-1. Total is the number of ranks, the same
	// on all. Both are required.
	Rank, Total int
	// Spare joins without a rank: Rank is ignored, and Join returns when the server has
	// assigned the rank of a lost one. OnLoss must be Wait.
	Spare bool
	// Generation counts a launcher's restarts of the whole job. The server refuses ranks
	// of a lower generation than the highest that it has seen.
	Generation uint32
	// Options is the canonical text of all options on which the ranks must agree. The
	// server refuses a rank whose text differs, and names the first difference.
	Options string
	// Version is the program's version, for the server's log; "" is none.
	Version string

	// Listen is the host:port at which this rank accepts connections of other ranks; "" is
	// ":0", a free port on all addresses. The host may be a network like 10.0.0.0/8, which
	// means this machine's address in it. The port may be a range like 26544-26600, of
	// which the first free port is used.
	Listen string
	// Advertise is the address that other ranks dial, host or host:port. The host may be a
	// network, as in Listen. "" is the host of Listen, or the address from which the server
	// sees this rank if Listen means all addresses. The default port is the listening port.
	Advertise string
	// Host is this machine's name in messages; "" is its address.
	Host string
	// Network carries all connections; nil is transport.TCP.
	Network transport.Network

	// Credentials authenticate this rank to the server and to other ranks, and are required
	// of them; nil is none. With a secret and without TLS,
	// each frame between ranks has an authentication tag, made with the secret, instead of
	// its checksum. Ranks of one host still share memory, which crosses no network.
	Credentials *auth.Credentials
	// NoTags uses checksums instead of these tags. It is for connections on which no third
	// party can change bytes, such as the loopback: the secret then only decides which
	// ranks may join. Equal on all ranks.
	NoTags bool
	// Owner is the secret that a request to cancel the job must prove; nil permits every
	// client of the server to cancel it. Equal on all ranks.
	Owner *auth.Secret
	// Allow lists the networks from which other ranks may connect; empty permits all.
	Allow []netip.Prefix

	// OnLoss is the policy on the loss of a rank; the zero value is Abort. Equal on all
	// ranks.
	OnLoss OnLoss
	// ReplaceTimeout limits the wait for another attempt of a lost rank; 0 is the server's
	// default, 10 min.
	ReplaceTimeout time.Duration
	// SlowFactor limits a rank's time per byte of its shard, as a multiple of the median
	// of all ranks. Beyond it a standby attempt replaces the rank. 0 is no limit.
	SlowFactor float64

	// Elastic starts the job without the ranks that have not joined within StartTimeout of
	// the first rank: see Group.Members. They count as ranks that are lost for good, so the
	// machine must be a Shrinker. OnLoss is the policy on later losses and must not be
	// Abort. Job needs a run key. Equal on all ranks.
	Elastic bool

	// Checkpoints stores states of the job for the case that all ranks with the state are
	// lost; nil restarts such a job from the beginning. Rank 0 writes and reads them, and
	// removes them at the end; other ranks ignore the field. A job that has shrunk writes
	// no further ones, since a job that starts from a checkpoint has all ranks. OnLoss must
	// not be Abort.
	Checkpoints Checkpoints
	// CheckpointEvery is the number of steps from one checkpoint to the next; 0 is 1.
	CheckpointEvery int

	// StartTimeout limits the wait until all ranks have joined; 0 is 10 min.
	StartTimeout time.Duration
	// Heartbeat is the interval of heartbeats to the server. 0 is 1 s, and in a job of more than 500
	// ranks Total/500 s, up to 5 s and LostAfter/4.
	Heartbeat time.Duration
	// LostAfter is the silence after which the server declares a rank lost; 0 is 10 s.
	LostAfter time.Duration
	// ServerTimeout is the silence after which a rank gives up the server; 0 is 10 min.
	ServerTimeout time.Duration
	// DialTimeout limits the attempts to reach the server, and then those to reach the
	// neighbours at the start of the job; 0 is 100 s, as in vw. After a loss it does not limit
	// the latter: other ranks may still be at work.
	DialTimeout time.Duration
	// Stall is the time without a byte, between two ranks that are in the same collective,
	// after which the job ends; 0 is 60 s. A link slower than Chunk per Stall is stalled.
	// A transfer of the state is stalled if it needs longer than Stall for 256 KiB.
	Stall time.Duration
	// MaxWait is the time for which a rank may be missing from a collective before the job
	// ends. 0 is no limit while the rank sends heartbeats. vw workers send none: in a job
	// with them 0 is 10 times Stall, or 20 times this rank's longest work between two
	// calls if that is more.
	MaxWait time.Duration

	// Chunk is the payload of one frame in bytes, a multiple of 8 up to 16 MiB. 0 is
	// 256 KiB, the best on loopback; 16 to 64 KiB suit 1 to 10 Gbit/s. Equal on all ranks.
	Chunk int
	// NoChecksum leaves out the CRC-32C of each chunk, which saves some per cent of the
	// time. A bit that flips on the way then goes into the model. It cannot be combined
	// with tags.
	NoChecksum bool

	// Schedule is the algorithm of an all-reduce, which decides the order of additions. 0
	// (schedule.Auto) chooses by the number of ranks and the size of the vector. An
	// operation that does not commute cannot use a ring; Auto chooses for it. Equal on all
	// ranks.
	Schedule schedule.Name

	// NoSharedMemory sends everything over the network, also between ranks of one machine.
	// If one rank of a machine sets it, none of that machine shares memory. The results
	// are the same.
	NoSharedMemory bool

	// Transport carries bytes from one machine to another; the zero value is TransportTCP.
	// Ranks of one machine share memory with every transport, and the results are the
	// same. Equal on all ranks.
	Transport Transport
	// VerbsDevice is the RDMA device of this rank: its name, name:port, one of its IP
	// addresses, or "auto". "" and "auto" choose the device with the address at which
	// other ranks reach this one.
	VerbsDevice string

	// TraceDir is a directory for Go execution traces of the last seconds; "" records
	// nothing. A rank writes one when it has waited in a collective for 10 s, or when
	// Stall or MaxWait is over, at most three in all. The log names each file.
	TraceDir string

	// Timeline receives what this rank does over time, as a Chrome trace that Perfetto opens:
	// steps, collectives, and the parts of vectors that it sends and receives over
	// connections, and exchanges with the server by which internal/timeline puts all ranks on
	// one clock. nil records nothing. Close writes the end.
	Timeline io.Writer

	// ServerLog has log lines for the server; nil sends none. A server that keeps no logs
	// ignores them.
	ServerLog *ServerLog

	// Log receives long waits, refused connections and the choice of the transport; nil
	// discards them.
	Log *slog.Logger

	clock   *timeline.Clock // of Timeline; nil is this machine's
	library verbs.Library   // source of RDMA devices; nil is libibverbs
	driver  epoch.Driver    // moves the bytes; 0 chooses by platform and network
}

// OnLoss is a job's policy on the loss of a rank. All ranks of a job have the same.
//
//   - [Abort] ends the job: every rank returns the same *LostError. It is the default.
//   - [Wait] holds the job until another attempt of the lost rank has joined, for at most
//     Config.ReplaceTimeout. The machine passed to Run is [Recoverable].
//   - [Shrink] continues the job without the lost rank. The machine passed to Run is a
//     [Shrinker].
//   - [Open] does the same. Moreover the job is wired with the ranks that have joined as soon as all
//     of these are ready, see Group.Ready. Until then ranks may be lost, return or join late.
//     Elastic must be set: then a rank that has never joined is waited for until StartTimeout.
type OnLoss = protocol.OnLoss

// The policies on the loss of a rank, values of Config.OnLoss.
const (
	Abort  OnLoss = protocol.Abort
	Wait   OnLoss = protocol.Wait
	Shrink OnLoss = protocol.Shrink
	Open   OnLoss = protocol.Open
)

const (
	defaultStartTimeout  = 10 * time.Minute
	defaultStall         = time.Minute
	defaultServerTimeout = 10 * time.Minute
	defaultDialTimeout   = 100 * time.Second
	defaultChunk         = 256 << 10

	// leastTime is the shortest time-out that a Config may set.
	leastTime = time.Millisecond
)

func (c Config) withDefaults() Config {
	if c.Server != "" {
		c.Server = serverAddress(c.Server)
	}
	if c.Network == nil {
		c.Network = transport.TCP
	}
	if c.DialTimeout == 0 {
		c.DialTimeout = defaultDialTimeout
	}
	if c.Stall == 0 {
		c.Stall = defaultStall
	}
	if c.Chunk == 0 {
		c.Chunk = defaultChunk
	}
	if c.library == nil {
		c.library = verbs.System()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// serverAddress returns server, host or host:port, with the default port filled in.
func serverAddress(server string) string {
	host, port, err := net.SplitHostPort(server)
	switch {
	case err == nil && port != "":
		return server
	case err != nil: // no port
		host = strings.TrimSuffix(strings.TrimPrefix(server, "["), "]")
	}
	return net.JoinHostPort(host, strconv.Itoa(protocol.DefaultPort))
}

// checkServer returns an error unless server is host or host:port. An IPv6 address needs brackets
// only before a port.
func checkServer(server string) error {
	host, _, err := net.SplitHostPort(serverAddress(server))
	if err != nil || host == "" || strings.Contains(host, ":") && net.ParseIP(host) == nil && !strings.Contains(host, "%") {
		return fmt.Errorf("got %q, want host or host:port", server)
	}
	return nil
}

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("allreduce: "+format, args...)) }
	if c.Spare {
		c.Rank = 0 // it is ignored
	}
	if err := checkServer(c.Server); err != nil {
		fault("Server: %w", err)
	}
	for _, err := range c.mesh().Faults() {
		fault("%w", err)
	}
	if c.Spare && c.OnLoss != Wait {
		fault("Spare: OnLoss is %v: only a job that replaces lost ranks (wait) uses a spare", c.OnLoss)
	}
	if c.Rank < 0 {
		fault("Rank: got %d, want 0 to Total-1 = %d", c.Rank, c.Total-1)
	}
	if c.Chunk < 0 || c.Chunk > link.MaxChunk || c.Chunk%8 != 0 {
		fault("Chunk: got %d, want a multiple of 8 up to %d", c.Chunk, link.MaxChunk)
	}
	for _, d := range []struct {
		name string
		d    time.Duration
	}{
		{"StartTimeout", c.StartTimeout},
		{"Heartbeat", c.Heartbeat},
		{"LostAfter", c.LostAfter},
		{"ServerTimeout", c.ServerTimeout},
		{"DialTimeout", c.DialTimeout},
		{"Stall", c.Stall},
		{"MaxWait", c.MaxWait},
		{"ReplaceTimeout", c.ReplaceTimeout},
	} {
		if d.d != 0 && d.d < leastTime {
			fault("%s: got %v, want 0 or at least %v: a time.Duration without a unit counts nanoseconds", d.name, d.d, leastTime)
		}
	}
	if c.Checkpoints != nil && c.OnLoss == Abort {
		fault("Checkpoints: the loss of a rank ends the job, and nothing is kept: OnLoss must be Wait or Shrink")
	}
	if c.CheckpointEvery < 0 {
		fault("CheckpointEvery: got %d, want 0 or more", c.CheckpointEvery)
	}
	switch {
	case c.OnLoss > Shrink && c.OnLoss != Open:
		fault("OnLoss: got %v, want Abort, Wait, Shrink or Open", c.OnLoss)
	case c.OnLoss == Open && !c.Elastic:
		fault("Elastic: an open job starts without missing ranks: set it")
	}
	if c.Elastic {
		for _, err := range protocol.CheckElastic(c.OnLoss, c.Job.RunKey) {
			fault("Elastic: %w", err)
		}
	}
	if c.Elastic && c.Checkpoints != nil {
		fault("Checkpoints: a job that starts from a checkpoint has all ranks, and with Elastic some may be missing: leave one of them out")
	}
	if !(c.SlowFactor == 0 || c.SlowFactor > 1) {
		fault("SlowFactor: got %v, want 0 or more than 1", c.SlowFactor)
	}
	if l := c.ServerLog; l != nil && (l.Bytes < 0 || l.Rate < 0 || l.Burst < 0) {
		fault("ServerLog: got Bytes %d, Rate %d and Burst %d, want 0 or more", l.Bytes, l.Rate, l.Burst)
	}
	if c.NoChecksum && c.mesh().Tagged() {
		fault("NoChecksum: with a secret and without TLS, tags replace the checksums and protect the sums from changes on the way: leave NoChecksum out, use TLS, or set NoTags if no third party can reach the network")
	}
	if c.Transport > TransportAuto {
		fault("Transport: got %d, want at most %d", c.Transport, TransportAuto)
	}
	if c.Transport == TransportVerbs && c.Credentials != nil && c.Credentials.TLS != nil {
		fault("Transport: verbs cannot be encrypted by TLS: want TransportTCP, or TransportAuto, which then means TCP")
	}
	if err := verbs.CheckDevice(c.VerbsDevice); err != nil {
		fault("VerbsDevice: %w", err)
	}
	if c.VerbsDevice != "" && c.Transport == TransportTCP {
		fault("VerbsDevice: got %q, but Transport is TCP: want TransportVerbs or TransportAuto", c.VerbsDevice)
	}
	if !c.Schedule.Valid() {
		fault("Schedule: got %d, want one of package schedule's", c.Schedule)
	}
	if !littleEndian {
		fault("this machine is big-endian: vectors are sent as they are in memory, and the wire is little-endian")
	}
	return errors.Join(errs...)
}

// agreed returns the text that the server compares between ranks: Options and the fields of
// Config on which all ranks must agree before the first collective.
func (c Config) agreed() string {
	options := c.Options
	if c.Schedule != schedule.Auto {
		options += " schedule=" + c.Schedule.String()
	}
	if c.Transport != TransportTCP {
		options += " transport=" + c.Transport.String()
	}
	if c.NoTags {
		options += " tags=off"
	}
	return strings.TrimLeft(options, " ")
}

// join returns the part that the server's client needs. Its fields, except Elastic, have the same names, units
// and zero values in both, which a test checks.
func (c Config) join() client.JoinConfig {
	j := c.mesh().Join(client.JoinConfig{
		Server: c.Server, Owner: c.Owner, Spare: c.Spare, Generation: c.Generation,
		Advertise: c.Advertise, Host: c.Host, Options: c.agreed(), Version: c.Version,
		OnLoss: c.OnLoss, ReplaceTimeout: c.ReplaceTimeout, SlowFactor: c.SlowFactor,
		DialTimeout: c.DialTimeout, StartTimeout: c.StartTimeout, Heartbeat: c.Heartbeat,
		LostAfter: c.LostAfter, ServerTimeout: c.ServerTimeout, Logs: c.ServerLog.queue(),
	})
	if c.Elastic {
		j.Elastic = cmp.Or(c.StartTimeout, defaultStartTimeout)
	}
	return j
}

// mesh returns the part that describes the connections to other ranks.
func (c Config) mesh() mesh.Config {
	return mesh.Config{
		Network: c.Network, Listen: c.Listen, Advertise: c.Advertise, Allow: c.Allow,
		Credentials: c.Credentials, NoTags: c.NoTags,
		Job: c.Job, Rank: c.Rank, Total: c.Total, Log: c.Log,
	}
}

// port describes this rank's RDMA port. addr is the host:port at which other ranks reach this one.
func (c Config) port(addr string) rdma.Port {
	return rdma.Port{Library: c.library, Name: c.VerbsDevice, Addr: addr}
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// owner identifies this job to its checkpoints.
func (c Config) owner() Owner {
	text := fmt.Sprintf("%s total=%d", c.agreed(), c.Total)
	return Owner{Options: sha256.Sum256([]byte(text)), Text: text, Run: c.Job.RunKey, Generation: c.Generation}
}
