// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/recovery"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/shm"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// Group is one rank's hold on its job. Its collectives are called by one goroutine
// at a time, the same ones in the same order on all ranks.
type Group struct {
	cfg    Config
	log    *slog.Logger
	member coordinator // nil: Local
	mesh   *mesh.Mesh  // nil: Local

	*epoch               // the wiring that collectives go over; changed by who calls them, under mu
	broken   error       // why the job never will be wired
	busy     atomic.Bool // a collective is under way
	segments shm.Segments
	pinned   pinned
	left     []*shm.Segment // of epochs that are over, with what Alloc has given out; under mu
	scratch  []float32      // one slot of all weights
	scalar   [1]float32
	records  records
	steps    *recovery.Steps
	pairs    pairs
	recorder *engine.FlightRecorder // nil: nothing is recorded

	mu      sync.Mutex
	closed  bool
	dead    chan struct{} // closed when the job has failed
	died    bool          // dead is closed
	closing chan struct{} // closed by Close
	work    sync.WaitGroup
}

// Local is a job of one rank, without a server: collectives return what they
// were given.
func Local() *Group {
	g := newGroup(Config{Total: 1}.withDefaults())
	g.wiring = &client.Wiring{}
	return g
}

func newGroup(cfg Config) *Group {
	g := &Group{cfg: cfg, log: cfg.Log, dead: make(chan struct{}), closing: make(chan struct{})}
	g.segments = shm.Segments{Make: shm.NewSegment, Open: shm.OpenSegment}
	g.epoch = newEpoch(g)
	g.steps = recovery.New(recovery.Config{
		Rank: cfg.Rank, Total: cfg.Total, Stall: cfg.Stall, Elastic: cfg.Elastic,
		Checkpoints: cfg.Checkpoints, CheckpointEvery: cfg.CheckpointEvery, Log: cfg.Log,
	}, recovered{g})
	return g
}

// Join makes this process a rank of a job: it listens for other ranks and
// registers at the server. The job is wired later, by Ready or the first
// collective.
func Join(ctx context.Context, cfg Config) (*Group, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
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
	g.recorder, g.engine.Recorder = recording, recording
	_, err = g.register(ctx, checkpoint)
	if err != nil {
		return nil, fmt.Errorf("allreduce: rank %d: %w", cfg.Rank, err)
	}
	return g, nil
}

// register listens for other ranks and joins the job, with the step of the checkpoint that this
// rank can read. A group without a rank joins as a spare.
func (g *Group) register(ctx context.Context, checkpoint uint64) (*client.Member, error) {
	cfg := g.cfg
	m, err := mesh.Listen(ctx, cfg.mesh(), meshed{g})
	if err != nil {
		return nil, err
	}
	g.mesh = m
	if cfg.Transport == TransportVerbs {
		err = g.checkVerbs(m.Addr()) // before anybody counts on this rank
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	j := cfg.join()
	j.Spare, j.Checkpoint = cfg.Rank < 0, checkpoint
	j.Advertise, j.Waiting, j.Steps = m.Advertised(), g.waiting, g.steps
	member, err := client.Join(ctx, j)
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("cannot join job %v: %w", cfg.Job, err)
	}
	g.member = member
	return member, nil
}

// Ready says what this rank has read, and waits until all ranks are ready and the
// job is wired: the connections to this rank's neighbours in the tree are open
// then. The first collective calls it with a zero shard if nobody has. A second
// call does nothing. Where the shard does not say how long it took to read, the first Work of
// Run did.
func (g *Group) Ready(ctx context.Context, s Shard) error {
	if g.isClosed() {
		return ErrClosed
	}
	if g.wiring != nil || g.broken != nil {
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
	w, err := g.member.Ready(ctx, s)
	if err != nil {
		return fmt.Errorf("rank %d: the job does not start: %w", g.cfg.Rank, err)
	}
	if w.Stream && !g.cfg.Credentials.VW() {
		return fmt.Errorf("rank %d: %w", g.cfg.Rank, &auth.Error{Why: "vw workers are in the job, who can prove nothing and hide nothing: auth.Credentials.AllowVW lets this rank work with them"})
	}
	if w.Stream && g.cfg.Schedule != schedule.Auto {
		return fmt.Errorf("rank %d: Schedule is %v, but vw workers are in the job, and they know vw's tree alone: leave it out", g.cfg.Rank, g.cfg.Schedule)
	}
	if w.Stream && g.cfg.Checkpoints != nil {
		return fmt.Errorf("rank %d: Checkpoints are set, but vw workers are in the job, and none of it can be taken up again: leave them out", g.cfg.Rank)
	}
	recovers := g.cfg.OnLoss != Abort && !w.Stream && g.cfg.Total > 1
	g.steps.SetRecovers(recovers)
	if recovers {
		g.work.Go(func() { // the job may fail while no epoch is there to notice it
			select {
			case <-g.member.Over():
				g.die()
			case <-g.closing:
			}
		})
	}
	g.enterEpoch(w)
	if w.Missing != nil || g.steps.ShrinkDue() {
		return nil // Run sees to it before anything else
	}
	return g.connect(ctx)
}

// Roster waits until it is known which ranks take part in the job, and returns them in order:
// all, unless it starts without some (Config.Elastic). A rank that reads a part of what all
// share asks before it reads. Where it is none of them it has come too late: it may stand by
// to the end, by Ready, or leave. A *[FinishedError] says that the job has ended.
func (g *Group) Roster(ctx context.Context) ([]int, error) {
	if g.member == nil {
		return []int{0}, nil
	}
	live, err := g.member.Members(ctx)
	if err != nil {
		return nil, fmt.Errorf("rank %d: the job does not start: %w", g.cfg.Rank, err)
	}
	return live, nil
}

// Late says whether the job has been started without this rank. That is known when Join returns.
func (g *Group) Late() bool { return g.member != nil && g.member.Excluded() }

// Fresh says, after Ready, whether the job begins: no step of it was completed before.
func (g *Group) Fresh() bool { return g.wiring != nil && g.wiring.Resume == (client.Point{}) }

// Rank is this process's number, which it keeps: where ranks are gone, it may be Size or more.
func (g *Group) Rank() int { return g.cfg.Rank }

// Size is the number of ranks that take part: all, but for those that the job has gone on
// without (Shrink).
func (g *Group) Size() int { return len(g.live) }

// Stream tells that vw workers are in the job, so that vw's raw stream is spoken
// and only the calls exist that vw makes. It is known after Ready.
func (g *Group) Stream() bool { return g.wiring != nil && g.wiring.Stream }

// now is the epoch for those who are not its caller.
func (g *Group) now() *epoch {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.epoch
}

// waiting is what a heartbeat tells the server.
func (g *Group) waiting() client.Waits {
	w := client.Waits{Rank: -1}
	e := g.now()
	if e.wiring == nil {
		return w
	}
	if w.Text = g.steps.Waits(); w.Text != "" {
		return w // no rank: a chain of ranks that wait ends here, and this rank asks itself
	}
	if e.conns != nil {
		if w = e.conns.Waits(); w.Rank >= 0 {
			return w
		}
	}
	en := &e.engine
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if !en.Active {
		return w
	}
	w.Collective = en.Call.Id.Seq
	// The neighbour, from the start: the server follows the chain by what each rank tells.
	if first, far := en.WaitsFor(); first != nil && !en.Stream {
		w.Rank = first.Rank
	} else if far.Rank >= 0 && !en.Stream {
		w.Rank = int(far.Rank)
	}
	if time.Since(en.Call.Started) >= engine.WatchTick {
		w.Text = en.Here().String()
	}
	return w
}

// Failed is closed when the job has failed, also between two collectives: for who
// waits for something else, say for input, and wants to learn it at once. The next
// collective returns the error.
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

func (g *Group) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// Close ends this rank's part in the job and joins everything it started. Before
// the end of the job that is the loss of a rank to the others; Fail tells them
// why. Close may be called again.
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
		e.engine.Fail(&engine.Failure{Code: engine.FaultGaveUp, By: g.cfg.Rank, Rank: g.cfg.Rank, Text: "its group was closed in the middle of a collective", Err: ErrClosed}, nil)
	}
	var err error
	if first && g.mesh != nil {
		g.mesh.Close()
	}
	e.end()
	if first && g.member != nil {
		err = g.member.Close()
	}
	g.work.Wait()
	g.steps.Wait()
	g.recorder.Close()
	g.pinned.release()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, seg := range g.left {
		seg.Close()
	}
	g.left = nil
	return err
}
