// SPDX-License-Identifier: Apache-2.0

package epoch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/rdma"
	"github.com/gvw-project/gvw/allreduce/internal/rootcause"
	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/link/vwstream"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/shm"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/timeline"
)

// Driver is the way in which a rank moves bytes over its connections.
type Driver uint8

// The drivers. Auto is Poll where the platform and the network support it, and Conn elsewhere.
const (
	Auto Driver = iota
	Poll        // the goroutine that calls the collective; needs Linux and plain TCP
	Conn        // two goroutines per connection, on every platform and network
)

// Transport carries bytes from one machine to another.
type Transport uint8

// The transports. Any is Verbs if all ranks can use them, and TCP otherwise.
const (
	TCP Transport = iota
	Verbs
	Any
)

// Config describes a rank to its epochs.
type Config struct {
	// Rank is this process's number; Total is the number of ranks with which the job began.
	Rank, Total int
	// OnLoss is the policy of the job on the loss of a rank.
	OnLoss protocol.OnLoss

	// Chunk is the payload of one frame in bytes. Required.
	Chunk int
	// NoChecksum leaves out the checksums of frames. Tagged means that they have tags instead.
	NoChecksum, Tagged bool
	// Encrypted means that the connections use TLS.
	Encrypted bool
	// NoSharedMemory means that this rank shares no memory.
	NoSharedMemory bool
	// Driver moves the bytes.
	Driver Driver
	// Transport carries bytes between machines. With Verbs or Any, Port is the RDMA port, without
	// its Addr.
	Transport Transport
	Port      rdma.Port

	// Stall limits the time without a byte in a collective. Required.
	Stall time.Duration
	// MaxWait limits the time for which a rank may be missing from a collective; 0 is no limit.
	MaxWait time.Duration
	// Patience limits the wait for the server to end an epoch that has failed. Required.
	Patience time.Duration
	// DialTimeout limits the attempts to reach a rank. Required.
	DialTimeout time.Duration

	// Server is the connection to the server; nil: a job of one rank without one.
	Server rootcause.Server
	// Mesh opens the connections; nil: a job of one rank.
	Mesh *mesh.Mesh
	// Device is the rank's RDMA device. Required.
	Device *rdma.Device
	// Segments makes and opens shared memory. Required.
	Segments shm.Segments
	// Recorder records execution traces; nil: none.
	Recorder *engine.FlightRecorder
	// Timeline records what the rank sends and receives; nil: nothing.
	Timeline *timeline.Recorder
	// Events keeps the last events of the rank; nil: none.
	Events *events.Ring
	// Traffic counts what the rank transfers; nil: nothing is counted.
	Traffic *traffic.Meter
	// Log receives long waits and the choice of the transport. Required.
	Log *slog.Logger
}

// Job is the job as its epochs see it.
type Job interface {
	// Recovers reports whether the job continues after the loss of a rank.
	Recovers() bool
	// Failed reports that the job has failed: its collectives return errors.
	Failed()
	// Closing returns a channel that is closed when this rank leaves the job.
	Closing() <-chan struct{}
	// LongestWork returns the longest work of this rank between two collectives.
	LongestWork() time.Duration
}

// Epoch is one wiring of a job. Until Wire it is the time before the first one.
type Epoch struct {
	Wiring *client.Wiring // nil: not wired yet
	Live   members.Set    // the ranks that take part
	Conns  *mesh.Epoch    // nil: a job of one rank, or no connections are needed
	Engine engine.Engine
	Plans  engine.Plans
	Linked bool // Connect was called

	refused error // why the engine has refused connections; nil: it has not. Of the collectives' goroutine

	cfg    Config
	job    Job
	work   sync.WaitGroup
	ending sync.Once

	quitting context.Context // ends when this rank stops waiting for the root cause
	quit     context.CancelCauseFunc
	cause    *engine.Failure // the root cause, set before resolved is closed
	resolved chan struct{}   // closed when cause is set, later than Engine.Failed
	done     chan struct{}   // closed by End
}

// New returns an epoch that is not wired.
func New(cfg Config, job Job) *Epoch {
	e := &Epoch{cfg: cfg, job: job, Live: members.All(cfg.Total), resolved: make(chan struct{}), done: make(chan struct{})}
	e.quitting, e.quit = context.WithCancelCause(context.Background())
	e.Engine = engine.Engine{
		Set:      link.Set{Rank: cfg.Rank, NoSum: cfg.NoChecksum, Log: cfg.Log},
		Part:     cfg.Chunk,
		Limits:   engine.Limits{Stall: cfg.Stall, MaxWait: cfg.MaxWait, Server: cfg.Patience},
		Recorder: cfg.Recorder,
		Timeline: cfg.Timeline,
		Events:   cfg.Events,
		Traffic:  cfg.Traffic,
		Segments: cfg.Segments,
		OnFail: func(f *engine.Failure) {
			f.RecordIn(cfg.Events, cfg.Rank)
			if !job.Recovers() {
				job.Failed()
			}
			e.work.Go(func() { e.resolve(f) })
		},
	}
	e.Engine.Init()
	return e
}

// Wire makes e the epoch of w among the live ranks. later means that this process was in another epoch
// before. It opens no connections. The caller then calls Start, for which End waits.
func (e *Epoch) Wire(w *client.Wiring, live members.Set, later bool) {
	e.work.Add(1) // watchEnd
	e.Wiring, e.Live = w, live
	if w.Ending {
		return
	}
	c := mesh.EpochConfig{Wiring: w, Members: live, Tree: topo.Binary(len(live)), Self: live.Position(e.cfg.Rank), Over: e.cfg.Server.Ended(w)}
	if w.Stream {
		c.Members, c.Tree, c.Self = nil, vwstream.Tree{HasParent: w.Parent != "", Kids: w.Kids}, vwstream.Self
	}
	// A replacement, and a rank of a job that starts from a checkpoint, enter their first epoch while
	// others may still be at work, too.
	c.Later = later || e.job.Recovers() && (w.Epoch.N > 1 || w.Resume != client.Point{})
	if !later && w.Missing == nil {
		c.Unanswered = e.cfg.DialTimeout // a new job, too, continues the numbers of an earlier one with its name
	}
	if later || e.job.Recovers() {
		c.AskAfter = e.cfg.Stall
	}
	c.Ask = func(ctx context.Context, rank int, detail string) {
		e.cfg.Server.Ask(ctx, rank, 0, protocol.EdgeStalls, detail)
	}
	e.Conns = e.cfg.Mesh.Epoch(c)
}

// Start waits for the end of a wired epoch in the background.
func (e *Epoch) Start() {
	go func() {
		defer e.work.Done()
		e.watchEnd()
	}()
}

// Stream reports whether vw workers are in the job.
func (e *Epoch) Stream() bool { return e.Wiring != nil && e.Wiring.Stream }

// Over reports whether the server has ended the epoch.
func (e *Epoch) Over() bool {
	select {
	case <-e.cfg.Server.Ended(e.Wiring):
		return true
	default:
		return false
	}
}

// End closes the connections and waits for all goroutines of the epoch. It returns the segment that
// stays mapped, since the caller's vectors are in it; nil: there is none.
func (e *Epoch) End() (left *shm.Segment) {
	e.ending.Do(func() { close(e.done) })
	if e.Conns != nil {
		e.Conns.Close()
	}
	e.Engine.Finish() // from here on no failure begins new work
	if e.Conns != nil {
		e.Engine.Mu.Lock()
		e.Engine.Flush()
		e.Engine.Mu.Unlock()
		e.closeDevice()
		if s := e.Shared(); s != nil {
			var err error
			if left, err = s.Close(!e.closing()); err != nil {
				e.cfg.Log.Error("Alloc: what is in shared memory cannot be taken out of it", "rank", e.cfg.Rank, "error", err)
			}
		}
		e.Conns.End()
	}
	e.work.Wait()
	return left
}

// closing reports whether this rank leaves the job.
func (e *Epoch) closing() bool {
	select {
	case <-e.job.Closing():
		return true
	default:
		return false
	}
}

// Inject injects the fault that is configured for a point, if any. done ends a lasting fault, such
// as slow work.
func (e *Epoch) Inject(p fault.Point) (done func()) {
	return e.Engine.Inject(fault.At(e.cfg.Rank, p))
}
