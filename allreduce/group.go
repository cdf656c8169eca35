// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/epoch"
	"github.com/gvw-project/gvw/allreduce/internal/rdma"
	"github.com/gvw-project/gvw/allreduce/internal/recovery"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/shm"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/timeline"
)

// Group is one rank's membership in a job. Its collectives are called by one goroutine at a
// time, the same ones in the same order on all ranks. Failed, Fail and Close may be
// called by other goroutines meanwhile.
type Group struct {
	cfg    Config
	log    *slog.Logger
	member coordinator // nil: Local
	mesh   *mesh.Mesh  // nil: Local

	epoch    *epoch.Epoch // the current wiring; the collectives' goroutine changes it, under mu
	broken   error        // why the job will never be wired; nil: it may
	busy     atomic.Bool  // a collective is under way, or connections are being opened
	segments shm.Segments
	device   rdma.Device    // with the memory that is registered with it
	left     []*shm.Segment // segments of past epochs with slices from Alloc; under mu
	scratch  []float32      // one slot of all weights, for sums of a slot
	written  []weightRange  // of the weights that are being averaged
	dense    bool           // a table was written throughout
	scalar   [1]float32
	records  records
	steps    *recovery.Steps
	pairs    pairs
	recorder *engine.FlightRecorder // nil: no TraceDir
	timeline *timeline.Recorder     // nil: no Timeline
	clock    serverClock            // of timeline
	events   *events.Ring           // nil: a job of one rank
	traffic  *traffic.Meter         // nil: a job of one rank

	mu      sync.Mutex
	closed  bool
	dead    chan struct{} // closed when the job has failed
	died    bool          // dead is closed
	closing chan struct{} // closed by Close
	work    sync.WaitGroup
}

// Local returns the group of a job of one rank, without a server. Its collectives return their
// arguments.
func Local() *Group {
	g := newGroup(Config{Total: 1}.withDefaults())
	g.epoch.Wiring = &client.Wiring{}
	return g
}

func newGroup(cfg Config) *Group {
	g := &Group{cfg: cfg, log: cfg.Log, dead: make(chan struct{}), closing: make(chan struct{})}
	if cfg.Total > 1 {
		g.events, g.traffic = events.New(), traffic.New(time.Now())
	}
	g.clock.Clock = cfg.timelineClock()
	if !cfg.Spare {
		g.newTimeline(cfg.Rank)
	}
	g.segments = shm.Segments{Make: shm.NewSegment, Open: shm.OpenSegment}
	g.steps = recovery.New(recovery.Config{
		Rank: cfg.Rank, Total: cfg.Total, Stall: cfg.Stall, Elastic: cfg.Elastic,
		Checkpoints: cfg.Checkpoints, CheckpointEvery: cfg.CheckpointEvery, Events: g.events, Log: cfg.Log,
	}, recovered{g})
	g.epoch = g.newEpoch()
	return g
}

// newEpoch returns an epoch that is not wired.
func (g *Group) newEpoch() *epoch.Epoch {
	c := g.cfg
	return epoch.New(epoch.Config{
		Rank: c.Rank, Total: c.Total, OnLoss: c.OnLoss,
		Chunk: c.Chunk, NoChecksum: c.NoChecksum, Tagged: c.mesh().Tagged(), Encrypted: c.Credentials != nil && c.Credentials.TLS != nil,
		NoSharedMemory: c.NoSharedMemory, Driver: c.driver, Transport: epoch.Transport(c.Transport), Port: c.port(""),
		Stall: c.Stall, MaxWait: c.MaxWait, Patience: cmp.Or(c.ServerTimeout, defaultServerTimeout), DialTimeout: c.DialTimeout,
		Server: g.member, Mesh: g.mesh, Device: &g.device, Segments: g.segments, Recorder: g.recorder, Timeline: g.timeline, Events: g.events, Traffic: g.traffic, Log: g.log,
	}, wired{g})
}

// renewEpoch replaces the epoch before the first wiring by one with the present configuration.
func (g *Group) renewEpoch() {
	e := g.newEpoch()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.epoch = e
}

// enterEpoch ends the current epoch and makes the epoch of w current. It opens no connections: connect
// does. Only the goroutine that calls collectives calls it.
func (g *Group) enterEpoch(w *client.Wiring) {
	old, e := g.epoch, g.newEpoch()
	live, later := old.Live, old.Wiring != nil
	if w.Members != nil {
		live = w.Members
	}
	if later {
		g.endEpoch(old)
	}
	e.Wire(w, live, later) // before other goroutines see e
	g.mu.Lock()
	g.epoch = e
	closed := g.closed
	g.mu.Unlock()
	if !w.Stream {
		g.mesh.Accept()
	}
	g.steps.Begin(w)
	g.traffic.Begin(time.Now(), traffic.Computing)
	g.events.Add(events.Event{Kind: events.Epoch, Number: uint64(w.Epoch.N), Peer: -1}, time.Now())
	e.Start()
	if closed { // Close has ended only the epoch before
		g.endEpoch(e)
	}
}

// endEpoch ends an epoch. A segment with slices from Alloc stays mapped until Close, since the caller
// uses them in the next epoch too.
func (g *Group) endEpoch(e *epoch.Epoch) {
	if seg := e.End(); seg != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.left = append(g.left, seg)
	}
}

// connect opens the edges of the epoch's tree, then agrees with the other ranks on what they use.
func (g *Group) connect(ctx context.Context) error {
	if g.busy.CompareAndSwap(false, true) { // else a collective has called Ready
		defer g.busy.Store(false)
	}
	if g.isClosed() { // Close may not have seen busy
		return ErrClosed
	}
	if err := g.epoch.Connect(ctx); err != nil {
		return err
	}
	return g.epoch.Agree(ctx)
}

// Join makes this process a rank of a job: it listens for other ranks and registers at the
// server. ctx limits only Join. The job is wired later, by Ready or the first collective.
//
// A spare (Config.Spare) has no rank of its own, and replaces a lost rank that has no standby
// attempt. Join then returns when the server has assigned that rank, with the rank's group. The
// caller then reads the rank's shard. A *[FinishedError] means that the job has ended without a
// use for the spare.
func Join(ctx context.Context, cfg Config) (*Group, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	if cfg.Spare {
		return joinSpare(ctx, cfg)
	}
	var recording *engine.FlightRecorder
	if cfg.TraceDir != "" {
		var err error
		if recording, err = engine.NewFlightRecorder(cfg.TraceDir, cfg.Rank, cfg.Log); err != nil {
			return nil, fmt.Errorf("allreduce: rank %d: %w", cfg.Rank, err)
		}
	}
	g, err := join(ctx, cfg, recording)
	if err != nil {
		recording.Close()
	}
	return g, err
}

func join(ctx context.Context, cfg Config, recording *engine.FlightRecorder) (*Group, error) {
	g := newGroup(cfg)
	checkpoint, err := g.steps.Newest(cfg.owner())
	if err != nil {
		return nil, err
	}
	g.recorder = recording
	_, err = g.register(ctx, checkpoint)
	if err != nil {
		return nil, fmt.Errorf("allreduce: rank %d: %w", cfg.Rank, err)
	}
	return g, nil
}

// register listens for other ranks and joins the job. checkpoint is the step of the newest
// checkpoint that this rank can read, 0 if there is none. A group without a rank joins as a
// spare.
func (g *Group) register(ctx context.Context, checkpoint uint64) (*client.Member, error) {
	cfg := g.cfg
	m, err := mesh.Listen(ctx, cfg.mesh(), meshed{g})
	if err != nil {
		return nil, err
	}
	g.mesh = m
	if cfg.Transport == TransportVerbs { // before the server counts this rank
		if _, err := cfg.port(m.Addr().String()).Find(); err != nil {
			m.Close()
			return nil, fmt.Errorf("transport verbs: %w", err)
		}
	}
	j := cfg.join()
	j.Checkpoint, j.Advertise, j.Waiting, j.Steps, j.Events = checkpoint, m.Advertised(), g.waiting, g.steps, g.events
	j.Traffic = func() *traffic.Counts { return g.now().Engine.Counts(time.Now()) }
	if cfg.Timeline != nil && (cfg.Spare || g.timeline.Traces()) {
		j.Clock = &g.clock
	}
	member, err := client.Join(ctx, j)
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("cannot join job %v: %w", cfg.Job, err)
	}
	g.member = member
	g.renewEpoch()
	if cfg.OnLoss != Abort {
		g.work.Go(func() { // the job may fail before it is wired, and between two epochs
			select {
			case <-member.Over():
				g.die()
			case <-g.closing:
			}
		})
	}
	return member, nil
}

// Ready reports this rank's shard to the server, and waits until all ranks are ready and the
// job is wired. The connections to this rank's neighbours in the tree are then open. If the
// caller does not call it, the first collective does, with a zero shard. A second call does
// nothing. If s.Took is 0, the time of Run's first Work replaces it.
func (g *Group) Ready(ctx context.Context, s Shard) error {
	if g.isClosed() {
		return ErrClosed
	}
	if g.epoch.Wiring != nil || g.broken != nil {
		return g.broken
	}
	err := g.wire(ctx, s)
	if _, again := errors.AsType[*InterruptedError](err); !again {
		g.broken = err
	}
	return err
}

func (g *Group) wire(ctx context.Context, s Shard) error {
	if s.Took == 0 {
		_, s.Took, _ = g.steps.Pace()
	}
	g.traffic.Begin(time.Now(), traffic.Waiting)
	w, err := g.member.Ready(ctx, s)
	if err != nil {
		return g.notStarted(err)
	}
	if w.Stream && !g.cfg.Credentials.VW() {
		return fmt.Errorf("rank %d: %w", g.cfg.Rank, &auth.Error{Why: "the job has vw workers, which support neither authentication nor encryption: set auth.Credentials.AllowVW to work with them"})
	}
	if w.Stream && g.cfg.Schedule != schedule.Auto {
		return fmt.Errorf("rank %d: Schedule is %v, but vw workers are in the job, and they use only vw's tree: leave it out", g.cfg.Rank, g.cfg.Schedule)
	}
	if w.Stream && g.cfg.Checkpoints != nil {
		return fmt.Errorf("rank %d: Checkpoints are set, but vw workers are in the job, which therefore cannot continue from one: leave them out", g.cfg.Rank)
	}
	recovers := g.cfg.OnLoss != Abort && !w.Stream && g.cfg.Total > 1
	g.steps.SetRecovers(recovers)
	g.enterEpoch(w)
	if w.Missing != nil || g.steps.ShrinkDue() {
		return nil // Run first gets the state, or calls Shrink
	}
	return g.connect(ctx)
}

// Members waits until the server has decided which ranks take part in the job, and returns them
// in order. These are all ranks, unless an elastic job starts without some (Config.Elastic). A
// program whose ranks divide common data calls it before it reads its part.
//
// A rank that is not among them has joined too late: it may be a standby until the end, by
// Ready, or leave. A *[FinishedError] means that the job has ended.
func (g *Group) Members(ctx context.Context) ([]int, error) {
	if g.member == nil {
		return []int{0}, nil
	}
	live, err := g.member.Members(ctx)
	if err != nil {
		return nil, g.notStarted(err)
	}
	return live, nil
}

// notStarted converts an error of the server's client, by which the wait for the start of the job has ended.
func (g *Group) notStarted(err error) error {
	if errors.Is(err, client.ErrClosed) {
		return ErrClosed
	}
	return fmt.Errorf("rank %d: the job does not start: %w", g.cfg.Rank, engine.FromServer(g.cfg.Rank, err))
}

// Excluded reports whether the job has started without this rank. It is valid when Join has
// returned.
func (g *Group) Excluded() bool { return g.member != nil && g.member.Excluded() }

// Resumed reports, after Ready, whether the job goes on from steps that it has completed before:
// this rank replaces another one, or the job starts from a checkpoint.
func (g *Group) Resumed() bool {
	return g.epoch.Wiring != nil && g.epoch.Wiring.Resume != (client.Point{})
}

// Rank returns this process's number, which never changes. After a loss (Shrink) it may be Size
// or more.
func (g *Group) Rank() int { return g.cfg.Rank }

// Size returns the number of ranks that take part: Config.Total less those without which the
// job has started (Elastic) or continued (Shrink).
func (g *Group) Size() int { return len(g.epoch.Live) }

// Stream reports whether vw workers are in the job. All ranks then use vw's raw stream, and
// only the collectives that vw calls exist. It is valid after Ready.
func (g *Group) Stream() bool { return g.epoch.Stream() }

// now returns the current epoch, for goroutines other than the collectives' own.
func (g *Group) now() *epoch.Epoch {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.epoch
}

// waiting returns what this rank waits for, for the heartbeats to the server. Rank -1: it waits
// for no rank.
func (g *Group) waiting() client.Waits {
	w := client.Waits{Rank: -1}
	e := g.now()
	if e.Wiring == nil {
		return w
	}
	if w.Text = g.steps.Waits(); w.Text != "" {
		return w // no rank: a chain of waiting ranks ends here, and this rank asks the server itself
	}
	return e.Waits()
}

// Failed returns a channel that is closed when the job fails, also between two collectives. A
// program that waits for something else, such as input, can select on it. The next collective
// returns the error.
func (g *Group) Failed() <-chan struct{} { return g.dead }

// die closes Failed.
func (g *Group) die() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.died {
		g.died = true
		close(g.dead)
	}
}

// Fail reports that this rank gives up because of err, which becomes the root cause on all ranks.
// It does nothing after a failure of the job. It also does nothing if err means that the source
// of a state is lost: another attempt of the rank may then continue.
func (g *Group) Fail(ctx context.Context, err error) {
	if g.member == nil || g.isClosed() || err == nil {
		return
	}
	if _, gone := errors.AsType[*recovery.SourceLostError](err); gone {
		return
	}
	g.now().Fail(ctx, err)
}

func (g *Group) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// Close leaves the job and waits for all goroutines that the group has started. To the other
// ranks a Close before the end of the job is the loss of this rank; call Fail first to send
// them the reason. Close may be called again.
func (g *Group) Close() error {
	g.mu.Lock()
	first := !g.closed
	g.closed = true
	if first {
		close(g.closing)
	}
	e := g.epoch
	g.mu.Unlock()
	if first && g.busy.Load() {
		e.Engine.FailClosed()
	}
	var err error
	if first && g.mesh != nil {
		g.mesh.Close()
	}
	g.endEpoch(e)
	if first && g.member != nil {
		err = g.member.Close()
	}
	g.work.Wait()
	g.steps.Wait()
	g.recorder.Close()
	if first {
		if terr := g.timeline.Close(); terr != nil {
			g.log.Warn("the timeline is incomplete", "rank", g.cfg.Rank, "error", terr)
		}
	}
	g.device.Release()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, seg := range g.left {
		seg.Close()
	}
	g.left = nil
	return err
}
