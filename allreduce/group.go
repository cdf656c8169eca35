// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/spantree"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/fault"
)

// Group is one rank's hold on its job. Its collectives are called by one goroutine
// at a time, the same ones in the same order on all ranks.
type Group struct {
	cfg      Config
	log      *slog.Logger
	member   membership   // nil: Local
	listener net.Listener // until the job is wired

	wiring   *spantree.Wiring // nil: not wired yet
	broken   error            // why it never will be
	busy     atomic.Bool      // a collective is under way
	engine   engine
	wirer    *wirer // nil: not wired, or Local
	plans    plans
	segments segments
	scratch  []float32 // one slot of all weights
	scalar   [1]float32
	records  records

	mu      sync.Mutex
	closed  bool
	verdict *failure      // why the job has failed
	settled chan struct{} // closed when verdict stands, after engine.failed
	closing chan struct{} // closed by Close
	work    sync.WaitGroup
}

// Local is a job of one rank, without a server: collectives return what they
// were given.
func Local() *Group {
	g := newGroup(Config{Total: 1}.withDefaults())
	g.wiring = &spantree.Wiring{}
	return g
}

func newGroup(cfg Config) *Group {
	g := &Group{cfg: cfg, log: cfg.Log, settled: make(chan struct{}), closing: make(chan struct{})}
	g.segments = segments{transport.NewSegment, transport.OpenSegment}
	g.engine = engine{
		rank:   cfg.Rank,
		part:   cfg.Chunk,
		noSum:  cfg.NoChecksum,
		limits: limits{stall: cfg.Stall, maxWait: cfg.MaxWait},
		log:    cfg.Log,
		edges:  map[int]*edge{},
		failed: make(chan struct{}),
		onFail: func(f *failure) { g.work.Go(func() { g.settle(f) }) },
	}
	g.engine.call.done = make(chan struct{}, 1)
	g.engine.driver = &netConn{en: &g.engine}
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
	g := newGroup(cfg)
	at, err := address.Parse(cfg.Listen)
	if err == nil {
		g.listener, err = at.Listen(ctx, cfg.Network, address.Machine)
	}
	if err != nil {
		return nil, fmt.Errorf("allreduce: rank %d: cannot listen for other ranks: %w", cfg.Rank, err)
	}
	advertise, err := cfg.advertised(g.listener.Addr())
	if err != nil {
		g.listener.Close()
		return nil, err
	}
	member, err := spantree.Join(ctx, spantree.JoinConfig{
		Network: cfg.Network, Server: cfg.Server, Job: cfg.Job,
		Rank: cfg.Rank, Total: cfg.Total, Generation: cfg.Generation,
		Advertise: advertise, Host: cfg.Host, Options: cfg.agreed(), Version: cfg.Version,
		DialTimeout: cfg.DialTimeout, StartTimeout: cfg.StartTimeout, Heartbeat: cfg.Heartbeat,
		LostAfter: cfg.LostAfter, ServerTimeout: cfg.ServerTimeout,
		Waiting: g.waiting, Log: cfg.Log,
	})
	if err != nil {
		g.listener.Close()
		return nil, fmt.Errorf("allreduce: rank %d: cannot join job %v: %w", cfg.Rank, cfg.Job, err)
	}
	g.member = member
	return g, nil
}

// Ready says what this rank has read, and waits until all ranks are ready and the
// job is wired: the connections to this rank's neighbours in the tree are open
// then. The first collective calls it with a zero shard if nobody has. A second
// call does nothing.
func (g *Group) Ready(ctx context.Context, s spantree.Shard) error {
	if g.isClosed() {
		return ErrClosed
	}
	if g.wiring == nil && g.broken == nil {
		g.broken = g.wire(ctx, s)
	}
	return g.broken
}

func (g *Group) wire(ctx context.Context, s spantree.Shard) error {
	w, err := g.member.Ready(ctx, s)
	if err != nil {
		return fmt.Errorf("rank %d: the job does not start: %w", g.cfg.Rank, err)
	}
	g.strike(fault.Wiring)
	within, cancel := context.WithTimeoutCause(ctx, g.cfg.DialTimeout,
		fmt.Errorf("no answer within %v", g.cfg.DialTimeout))
	defer cancel()
	wr := newWirer(g.cfg.Network, g.listener, g.cfg.Rank, g.cfg.Total, w, g.member.Over(), g.log)
	if err := wr.connect(within); err != nil {
		if errors.Is(err, errOver) {
			return fmt.Errorf("rank %d: wiring: %w", g.cfg.Rank, g.member.Cause())
		}
		// The others wait in vain, and are not to hear just that this rank has gone.
		g.tellServer(&failure{code: faultGaveUp, by: g.cfg.Rank, rank: g.cfg.Rank, text: err.Error(), err: err})
		return err
	}
	if w.Stream && g.cfg.Schedule != schedule.Auto {
		wr.end()
		return fmt.Errorf("rank %d: Schedule is %v, but vw workers are in the job, and they know vw's tree alone: leave it out", g.cfg.Rank, g.cfg.Schedule)
	}
	if err := g.start(w, wr); err != nil {
		return err
	}
	g.strike(fault.Wiring)
	return g.share(ctx)
}

// start takes over the edges of a wired job.
func (g *Group) start(w *spantree.Wiring, wr *wirer) error {
	en := &g.engine
	en.stream, en.peers = w.Stream, w.Peers
	if w.Stream {
		en.part = streamChunk
	}
	g.plans = newPlans(wr.tree, wr.self, w.Stream)
	en.reach = func(rank int) {
		wr.reach(rank, g.cfg.DialTimeout, func(f *failure) { en.fail(f, nil) })
	}
	if d := g.cfg.Driver; d == DriverPoll || d == DriverAuto && !w.Stream && wr.plain() {
		poll, err := newPollLoop(en)
		switch {
		case err == nil:
			en.driver = poll
		case d == DriverPoll:
			wr.end()
			return fmt.Errorf("rank %d: %w", g.cfg.Rank, err)
		}
	}
	g.mu.Lock()
	g.wirer, g.wiring = wr, w
	g.mu.Unlock()
	if err := wr.handOver(en.attach); err != nil {
		wr.end()
		en.finish()
		return fmt.Errorf("rank %d: %w", g.cfg.Rank, err)
	}
	en.watchs.Go(func() { en.watch(g.closing) })
	g.work.Go(g.watchOver)
	return nil
}

// watchOver fails the job when the server says that the epoch is over.
func (g *Group) watchOver() {
	select {
	case <-g.member.Over():
	case <-g.closing:
		return
	}
	en := &g.engine
	en.mu.Lock()
	// At the end of a job with vw workers ranks leave one by one, and what
	// matters is seen on the connections.
	leaving := en.stream && en.leaving
	en.mu.Unlock()
	if leaving {
		return
	}
	v := verdictOf(g.member.Cause())
	if v.code == faultGaveUp && !en.stream {
		// The rank that gave up has told its neighbours too, in more detail.
		timer := time.NewTimer(detailWithin)
		defer timer.Stop()
		select {
		case <-en.failed:
		case <-timer.C:
		case <-g.closing:
		}
	}
	en.fail(v, nil)
}

// verdictOf is the server's verdict as a failure.
func verdictOf(cause error) *failure {
	f := &failure{code: faultGaveUp, by: serverItself, rank: serverItself, text: cause.Error(), err: cause}
	if lost, ok := errors.AsType[*spantree.LostError](cause); ok {
		f.rank, f.host, f.text = lost.Rank, lost.Host, lost.Why
		if !lost.GaveUp {
			f.code = faultLost
		}
	}
	return f
}

// Rank is this process's number.
func (g *Group) Rank() int { return g.cfg.Rank }

// Size is the number of ranks.
func (g *Group) Size() int { return g.cfg.Total }

// Stream tells that vw workers are in the job, so that vw's raw stream is spoken
// and only the calls exist that vw makes. It is known after Ready.
func (g *Group) Stream() bool { return g.wiring != nil && g.wiring.Stream }

// waiting is what a heartbeat tells the server.
func (g *Group) waiting() string {
	g.mu.Lock()
	wired := g.wiring != nil
	g.mu.Unlock()
	if !wired {
		return ""
	}
	en := &g.engine
	en.mu.Lock()
	defer en.mu.Unlock()
	if !en.active || time.Since(en.call.started) < watchTick {
		return ""
	}
	return en.here().String()
}

// Failed is closed when the job has failed, also between two collectives: for who
// waits for something else, say for input, and wants to learn it at once. The next
// collective returns the error.
func (g *Group) Failed() <-chan struct{} { return g.engine.failed }

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
	wired := g.wiring != nil
	g.mu.Unlock()
	if first && g.busy.Load() {
		g.engine.fail(&failure{code: faultGaveUp, by: g.cfg.Rank, rank: g.cfg.Rank, text: "its group was closed in the middle of a collective", err: ErrClosed}, nil)
	}
	var err error
	if first && g.listener != nil {
		g.listener.Close() // may be closed already, by the wiring
	}
	if wired && g.wirer != nil {
		g.wirer.close()
		g.engine.finish()
		g.engine.mu.Lock()
		s := g.engine.shared
		g.engine.mu.Unlock()
		if s != nil {
			s.close()
		}
		g.wirer.end()
	}
	if first && g.member != nil {
		err = g.member.Close()
	}
	g.work.Wait()
	return err
}
