// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Config says which rank of which job this process is. The zero value of a field
// means what its comment says.
type Config struct {
	// Server is the address of the spanning-tree server, host or host:port. Required;
	// the default port is 26543.
	Server string
	// Job names the job: vw's unique_id, and the run key of a launcher.
	Job Job
	// Rank is this process's number, 0 to Total-1. Total is how many there are.
	Rank, Total int
	// Generation counts a launcher's restarts of the whole job; a higher one fences
	// the lower ones.
	Generation uint32
	// Options is the canonical text of all options on which the ranks must agree;
	// the server refuses a rank whose text differs, and says where.
	Options string
	// Version is the program's, for the server's log.
	Version string

	// Listen is where other ranks reach this one, host:port. "" is ":0": all
	// addresses, any free port. A network like 10.0.0.0/8 in place of the host stands
	// for this machine's address in it; of a range of ports like 26544-26600 the first
	// free one is taken.
	Listen string
	// Advertise is what they are told: host or host:port; the host may be a network,
	// as in Listen. "": the host of Listen, or, where that means all addresses, the one
	// from which the server sees this rank; and the port that it listens on.
	Advertise string
	// Host is this machine's name in messages; "": its address.
	Host string
	// Network carries everything; nil is transport.TCP.
	Network transport.Network

	// Credentials are shown to the server and to other ranks, and asked of them; nil:
	// none. With TLS nothing goes over bare sockets, so Driver is DriverConn. With a secret
	// and without TLS every frame between ranks has a tag that only who has the secret can
	// make, in the place of its checksum. Ranks of one host share memory all the same: it
	// crosses no network.
	Credentials *auth.Credentials
	// NoTags leaves these tags out, and the checksums in. It is for ranks between which
	// nobody can stand, as on the loopback, where the secret says who may join and that is
	// enough. All ranks say the same.
	NoTags bool
	// Owner is what who cancels the job must show; nil: who may talk to the server may.
	// All ranks have the same.
	Owner *auth.Secret
	// Allow are the networks from which other ranks may connect; none: all.
	Allow []netip.Prefix

	// OnLoss says what the job does about the loss of a rank. Abort, the zero value,
	// ends it. Wait lets another attempt of the rank take its place: see Run. Shrink
	// goes on without it, with a machine that is a Shrinker. All ranks say the same.
	OnLoss OnLoss
	// ReplaceTimeout is how long the job waits for another attempt of a lost rank; 0 is
	// the server's default, 10 min.
	ReplaceTimeout time.Duration
	// SlowFactor is how many times the median of all ranks a rank may need for a byte
	// of its shard before another attempt that stands by takes its place; 0 is as
	// long as it likes.
	SlowFactor float64

	// Elastic lets the job start without the ranks that have not come when StartTimeout, from
	// the first one's coming, is over: see Group.Roster. They are as ranks that are lost
	// for good, so the machine must be a Shrinker; OnLoss says what is done about later losses
	// and must not be Abort, and Job needs a run key. All ranks say the same.
	Elastic bool

	// Checkpoints keeps states of the job, from which it goes on when no rank is left
	// that has one. Rank 0 writes and reads them, and removes them at the end; on others
	// it does nothing. nil: without one such a job begins anew. Once the job has gone on
	// without a rank it keeps no further ones, since who begins from one has all ranks.
	// OnLoss must not be Abort.
	Checkpoints Checkpoints
	// CheckpointEvery is after how many steps one is kept; 0 is 1.
	CheckpointEvery int

	// StartTimeout is how long to wait until all ranks have joined; 0 is 10 min.
	StartTimeout time.Duration
	// Heartbeat is the interval of signs of life to the server; 0 is 1 s.
	Heartbeat time.Duration
	// LostAfter is the silence after which the server gives a rank up; 0 is 10 s.
	LostAfter time.Duration
	// ServerTimeout is the silence after which a rank gives the server up; 0 is 10 min.
	ServerTimeout time.Duration
	// DialTimeout is how long to try to reach the server, and then the
	// neighbours; 0 is 100 s, as in vw.
	DialTimeout time.Duration
	// Stall ends the job when no byte has moved for so long between two ranks that
	// both are in a collective; 0 is 60 s. Links slower than Chunk per Stall count
	// as stalled, and so does a transfer of the state that takes longer for 256 KiB.
	Stall time.Duration
	// MaxWait ends the job when a rank has not entered a collective for so long; 0
	// is no limit, as long as it sends signs of life. vw workers send none: beside them 0 is
	// 10 times Stall, or 20 times this rank's longest work between two calls if that is more.
	MaxWait time.Duration

	// Chunk is how many bytes travel at once, a multiple of 8 up to 16 MiB; 0 is
	// 256 KiB, the best on loopback; 16 to 64 KiB suit 1 to 10 Gbit/s.
	// All ranks use the same.
	Chunk int
	// NoChecksum leaves out the CRC-32C of each chunk: some per cent faster, and
	// a bit that flips on the way goes into the model. Not where frames have tags.
	NoChecksum bool

	// Schedule is the way of an all-reduce, and with it the order of additions. 0
	// (schedule.Auto) chooses by the number of ranks and the size of the vector. All
	// ranks use the same. An operation that does not commute never goes around a ring:
	// then Auto chooses.
	Schedule schedule.Name

	// NoSharedMemory sends everything over the network also where all ranks run on one
	// machine. Ranks may differ: if one does not want to, none does. The results
	// are the same.
	NoSharedMemory bool

	// Transport says over what bytes go from one machine to another: TCP, the zero value,
	// RDMA verbs, or verbs where all ranks can and else TCP. All ranks say the same, and
	// the results are the same. Memory that ranks share on a machine is used in any case.
	Transport Transport
	// VerbsDevice is the RDMA device of this rank: its name, name:port, an IP address of it,
	// or "auto". "" is auto: the one that has the address at which other ranks reach this
	// one.
	VerbsDevice string

	// Driver says how bytes are moved between ranks; the results are the same. 0
	// chooses: ranks with different drivers work together.
	Driver Driver

	// TraceDir is a directory for execution traces of Go, of the last seconds: a rank that
	// waits for 10 s in a collective, or gives up by Stall or MaxWait, writes one there,
	// three at most, and says so in the log. "" records nothing.
	TraceDir string

	// Log hears of long waits and refused connections; nil discards it.
	Log *slog.Logger

	library verbs.Library // where RDMA devices come from; nil: libibverbs
}

// OnLoss is a job's policy on the loss of a rank. All ranks of a job have the same.
//
//   - [Abort] ends the job: every rank returns the same *LostError. It is the default.
//   - [Wait] holds the job until another attempt of the lost rank has joined, for at most
//     Config.ReplaceTimeout. The machine passed to Run is [Recoverable].
//   - [Shrink] continues the job without the lost rank. The machine passed to Run is a
//     [Shrinker].
type OnLoss = protocol.OnLoss

// The policies on the loss of a rank, values of Config.OnLoss.
const (
	Abort  OnLoss = protocol.Abort
	Wait   OnLoss = protocol.Wait
	Shrink OnLoss = protocol.Shrink
)

// Driver is the way in which a rank moves bytes over its connections. Ranks with
// different drivers work together.
//
//   - [DriverAuto] is DriverPoll where the platform supports it, and DriverConn elsewhere.
//     It is the default.
//   - [DriverPoll] moves bytes in the goroutine that calls the collective. It needs Linux
//     and plain TCP.
//   - [DriverConn] runs two goroutines per connection. It works on every platform and
//     network.
type Driver uint8

// The drivers, values of Config.Driver.
const (
	DriverAuto Driver = iota
	DriverPoll
	DriverConn
)

const (
	defaultStartTimeout  = 10 * time.Minute
	defaultStall         = time.Minute
	defaultServerTimeout = 10 * time.Minute
	defaultDialTimeout   = 100 * time.Second
	defaultChunk         = 256 << 10

	// leastTime is the shortest time-out that a Config may set.
	leastTime = time.Millisecond

	// streamChunk is how vw cuts its stream. No byte depends on it.
	streamChunk = 64 << 10
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

// serverAddress is host or host:port with the default port filled in.
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

// checkServer reports whether server is host or host:port. An IPv6 address needs brackets
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
	if err := checkServer(c.Server); err != nil {
		fault("Server: %w", err)
	}
	for _, err := range c.mesh().Faults() {
		fault("%w", err)
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
	if c.OnLoss > Shrink {
		fault("OnLoss: got %d, want Abort, Wait or Shrink", c.OnLoss)
	}
	if c.Elastic {
		for _, err := range protocol.CheckElastic(c.OnLoss, c.Job.RunKey) {
			fault("Elastic: %w", err)
		}
	}
	if c.Elastic && c.Checkpoints != nil {
		fault("Checkpoints: who begins from one has all ranks, and with Elastic some may be missing")
	}
	if !(c.SlowFactor == 0 || c.SlowFactor > 1) {
		fault("SlowFactor: got %v, want 0 or more than 1", c.SlowFactor)
	}
	if c.Driver > DriverConn {
		fault("Driver: got %d, want at most %d", c.Driver, DriverConn)
	}
	if c.Driver == DriverPoll && c.Credentials != nil && c.Credentials.TLS != nil {
		fault("Driver: the poll loop moves bare bytes, and there is TLS: want DriverConn or DriverAuto")
	}
	if c.NoChecksum && c.mesh().Tagged() {
		fault("NoChecksum: there is a secret and no TLS, so tags are in the place of checksums, and without them whoever can change bytes on the way could change the sums: leave NoChecksum out, or take TLS, or say NoTags where nobody is on the way")
	}
	if c.Transport > TransportAuto {
		fault("Transport: got %d, want at most %d", c.Transport, TransportAuto)
	}
	if c.Transport == TransportVerbs && c.Credentials != nil && c.Credentials.TLS != nil {
		fault("Transport: verbs go past TLS: want TransportTCP, or TransportAuto, which is TCP then")
	}
	if c.Transport == TransportVerbs && c.Driver == DriverConn {
		fault("Transport: verbs need DriverPoll, got DriverConn")
	}
	if err := verbs.CheckDevice(c.VerbsDevice); err != nil {
		fault("VerbsDevice: %w", err)
	}
	if c.VerbsDevice != "" && c.Transport == TransportTCP {
		fault("VerbsDevice: got %q, and the transport is TCP", c.VerbsDevice)
	}
	if !c.Schedule.Valid() {
		fault("Schedule: got %d, want one of package schedule's", c.Schedule)
	}
	if !littleEndian {
		fault("this machine is big-endian: vectors cross the wire as they lie in memory, little-endian")
	}
	return errors.Join(errs...)
}

// agreed is Options, and what else the ranks must agree on from the start.
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

// join returns the part that the server's client needs. Its fields have the same names, units and
// zero values here and there, which a test checks.
func (c Config) join() client.JoinConfig {
	j := client.JoinConfig{
		Network: c.Network, Server: c.Server, Credentials: c.Credentials, Owner: c.Owner,
		Job: c.Job, Rank: c.Rank, Total: c.Total, Generation: c.Generation,
		Advertise: c.Advertise, Host: c.Host, Options: c.agreed(), Version: c.Version,
		OnLoss: c.OnLoss, ReplaceTimeout: c.ReplaceTimeout, SlowFactor: c.SlowFactor,
		DialTimeout: c.DialTimeout, StartTimeout: c.StartTimeout, Heartbeat: c.Heartbeat,
		LostAfter: c.LostAfter, ServerTimeout: c.ServerTimeout, Log: c.Log,
	}
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

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// owner identifies this job to its checkpoints.
func (c Config) owner() Owner {
	text := fmt.Sprintf("%s total=%d", c.agreed(), c.Total)
	return Owner{Options: sha256.Sum256([]byte(text)), Text: text, Run: c.Job.RunKey, Generation: c.Generation}
}
