// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/link/vwstream"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const redial = 200 * time.Millisecond // between attempts to reach a rank

// wirer opens the edges of one epoch: first those of the tree, on which every job
// rests, later those that a collective needs. Of two ranks the child connects to its
// parent, and where neither is that, the higher to the lower.
type wirer struct {
	net      transport.Network
	listener net.Listener
	creds    *auth.Credentials
	key      auth.Key // of the epoch
	tagged   bool     // so is every frame
	rank     int
	total    int
	wiring   *client.Wiring
	over     <-chan struct{} // the epoch has ended
	again    bool            // an epoch went before: some ranks may still be at work
	patience time.Duration   // after which the server is asked about a connection that does not open; 0: it is not
	ask      func(ctx context.Context, rank int, detail string)
	log      *slog.Logger

	live   members.Set   // who takes part; nil in a job with vw workers
	tree   schedule.Tree // of positions; in a job with vw workers as this rank sees it
	self   int           // this rank in tree
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu    sync.Mutex
	links map[int]link.Peer // that nobody has taken yet
	why   map[int]error     // why a neighbour is not reached, so far
	take  func(rank int, l link.Peer) error
	fault error
	lost  int           // the rank that fault is about
	opens time.Time     // since when connect waits; zero: it does not
	ready chan struct{} // closed: the tree's edges are there, or fault
}

func newWirer(cfg Config, l net.Listener, live members.Set, w *client.Wiring, over <-chan struct{}) *wirer {
	rank := cfg.Rank
	wr := &wirer{
		net: cfg.Network, creds: cfg.Credentials, key: cfg.key(w), tagged: cfg.tagged(), listener: l,
		rank: rank, total: cfg.Total, wiring: w, over: over, log: cfg.Log,
		live: live, tree: topo.Binary(len(live)), self: live.Position(rank),
		links: map[int]link.Peer{}, why: map[int]error{}, ready: make(chan struct{}),
	}
	if w.Stream {
		wr.live, wr.tree, wr.self = nil, vwstream.Tree{HasParent: w.Parent != "", Kids: w.Kids}, vwstream.Self
	}
	wr.ctx, wr.cancel = context.WithCancel(context.Background())
	return wr
}

func (w *wirer) parent() int { return w.live.Rank(w.tree.Parent(w.self)) }

// neighbours are the ranks beside this one in the tree, schedule.None where there is
// none: the parent, then the children.
func (w *wirer) neighbours() [3]int {
	left, right := w.tree.Children(w.self)
	return [3]int{w.parent(), w.live.Rank(left), w.live.Rank(right)}
}

// connect opens the edges of the tree, or none.
func (w *wirer) connect(ctx context.Context) (err error) {
	w.progress(func() {}) // there may be nothing to do
	if p := w.parent(); p != schedule.None {
		w.work.Go(func() { _ = w.dial(ctx, p) }) // missing names whom it has not reached
	}
	if w.wiring.Stream { // a vw worker first connects, then accepts; what matters is that it does not answer before
		w.work.Go(w.acceptStream)
	}
	if err = w.await(ctx); err != nil {
		w.end()
	} else if w.wiring.Stream {
		w.listener.Close()
	}
	return err
}

// await waits for the edges of the tree. If one does not open, the server is asked, to which both
// ends report: the last message of a handshake may have been dropped.
func (w *wirer) await(ctx context.Context) error {
	var overdue <-chan time.Time
	if w.patience > 0 {
		ticker := time.NewTicker(w.patience)
		defer ticker.Stop()
		overdue = ticker.C
		w.opening(time.Now())
		defer w.opening(time.Time{})
	}
	for {
		select {
		case <-w.ready:
			return w.fault
		case <-w.over:
			return errOver
		case <-ctx.Done():
			return fmt.Errorf("rank %d: wiring: waiting for %s: %w", w.rank, w.missing(), context.Cause(ctx))
		case <-overdue:
			if waits := w.waits(); waits.Rank >= 0 {
				w.work.Go(func() { w.ask(w.ctx, waits.Rank, waits.Text) })
			}
		}
	}
}

func (w *wirer) opening(since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opens = since
}

// waits is what a heartbeat tells while await waits: the rank to which a connection lacks.
func (w *wirer) waits() client.Waits {
	waits := client.Waits{Rank: -1}
	w.mu.Lock()
	lacking, opens := w.lacking(), w.opens
	w.mu.Unlock()
	if opens.IsZero() || len(lacking) == 0 {
		return waits
	}
	waits.Rank = lacking[0]
	if took := time.Since(opens); took >= engine.WatchTick {
		waits.Text = fmt.Sprintf("rank %d: wiring: %v, waiting for %s", w.rank, took.Round(time.Second), w.missing())
	}
	return waits
}

var errOver = errors.New("the epoch has ended")

// handOver gives the links to take, those of today and those to come.
func (w *wirer) handOver(take func(rank int, l link.Peer) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take = take
	var errs []error
	for rank, l := range w.links {
		if err := take(rank, l); err != nil {
			errs = append(errs, err)
			l.Conn.Close()
		}
	}
	clear(w.links)
	return errors.Join(errs...)
}

// plain says that all links are bare TCP.
func (w *wirer) plain() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.links {
		if _, ok := l.Conn.(*net.TCPConn); !ok {
			return false
		}
	}
	return true
}

// close opens no further edges. Those that nobody has taken end.
func (w *wirer) close() {
	w.cancel()
	if w.wiring.Stream {
		w.listener.Close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take = func(int, link.Peer) error { return errOver }
	for _, l := range w.links {
		l.Conn.Close()
	}
	clear(w.links)
}

// end is close, and waits until nobody works for w any more.
func (w *wirer) end() {
	w.close()
	w.work.Wait()
}

// progress applies a change, and sees whether all edges of the tree are there.
func (w *wirer) progress(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	if w.take == nil && (len(w.lacking()) == 0 || w.fault != nil) {
		select {
		case <-w.ready:
		default:
			close(w.ready)
		}
	}
}

// lacking are the neighbours in the tree that are not connected yet.
func (w *wirer) lacking() (ranks []int) {
	for _, rank := range w.neighbours() {
		if _, ok := w.links[rank]; rank != schedule.None && !ok {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// install takes a link into its place.
func (w *wirer) install(rank int, l link.Peer) (err error) {
	transport.Tune(l.Conn)
	w.progress(func() {
		_, taken := w.links[rank]
		switch {
		case w.take != nil:
			err = w.take(rank, l)
		case taken:
			err = fmt.Errorf("rank %d is connected already", rank)
		default:
			w.links[rank] = l
		}
	})
	return err
}

// missing names the neighbours that are not connected yet.
func (w *wirer) missing() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for _, rank := range w.lacking() {
		switch {
		case !w.wiring.Stream:
			names = append(names, w.absent(rank))
		case rank == vwstream.Parent:
			names = append(names, "the parent at "+w.wiring.Parent)
		default:
			names = append(names, "a child")
		}
	}
	return fmt.Sprint(names)
}

// dials says whether of two ranks the first one connects to the second.
func (w *wirer) dials(from, to int) bool {
	f, t := w.live.Position(from), w.live.Position(to)
	switch {
	case w.tree.Parent(f) == t:
		return true
	case w.tree.Parent(t) == f:
		return false
	}
	return from > to
}

// dial connects to a rank, trying until ctx ends.
func (w *wirer) dial(ctx context.Context, rank int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(w.ctx, func() { cancel(errOver) })()
	l := link.Peer{Rank: rank, Host: w.wiring.Parent}
	if w.wiring.Stream {
		l.Rank = link.UnknownRank
	} else {
		l.Host = w.wiring.Peers[rank]
	}
	reached := time.Now() // there was somebody
	for tries := 1; ; tries++ {
		c, err := dialRank(ctx, w.net, l.Host)
		if err == nil {
			reached = time.Now()
		}
		if err == nil && !w.wiring.Stream {
			bare := c
			if c, l.Tags, err = w.greet(ctx, bare, rank); err != nil {
				bare.Close()
			}
		}
		if err == nil {
			l.Conn = c
			if err = w.install(rank, l); err != nil {
				c.Close()
			}
			return err
		}
		if ctx.Err() == nil {
			if tries%25 == 1 {
				w.log.Warn(w.cannotReach(rank), "rank", w.rank, "address", l.Host, "tries", tries, "error", err)
			}
			if done := w.notReached(rank, tries, time.Since(reached), err); done != nil {
				return done
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w, and %d tries: %w%s", context.Cause(ctx), tries, err, w.advice(rank, w.rank))
		case <-time.After(redial):
		}
	}
}

func (w *wirer) cannotReach(rank int) string {
	if rank == w.parent() {
		return "cannot reach the parent in the tree yet"
	}
	return fmt.Sprintf("cannot reach rank %d yet", rank)
}

// reach starts to open the edge to a rank that a collective needs, if that is up to
// this rank, and fails the job when it cannot be opened within patience.
func (w *wirer) reach(rank int, patience time.Duration, fail func(*engine.Failure)) {
	if !w.dials(w.rank, rank) {
		return
	}
	w.work.Go(func() {
		ctx, cancel := context.WithTimeoutCause(w.ctx, patience, fmt.Errorf("no answer within %v", patience))
		defer cancel()
		if err := w.dial(ctx, rank); err != nil && w.ctx.Err() == nil {
			fail(&engine.Failure{
				Code: engine.FaultLost, By: w.rank, Rank: rank, Host: w.wiring.Peers[rank],
				Text: "it cannot be reached: " + err.Error(), Err: err, Ask: protocol.EdgeBroke,
			})
		}
	})
}

// acceptStream takes as many connections as there are children: vw's workers do
// not say who they are.
func (w *wirer) acceptStream() {
	a := &transport.Acceptor{Listener: w.listener, Log: w.log.With("rank", w.rank)}
	defer a.Close()
	for _, child := range w.neighbours() {
		if child == schedule.None || child == vwstream.Parent {
			continue
		}
		c, err := a.Accept(w.ctx)
		if err != nil {
			return // the listener is closed
		}
		if w.install(child, link.Peer{Conn: c, Rank: link.UnknownRank, Host: c.RemoteAddr().String()}) != nil {
			c.Close() // it came too late
		}
	}
}

// expects says whether a rank has reason to connect to this one.
func (w *wirer) expects(rank int) bool {
	return w.live.Position(rank) >= 0 && rank != w.rank && w.dials(rank, w.rank)
}

// tags returns the tags of the edge over which x was said, where this rank was that side; none,
// if the frames of this job have checksums.
func (w *wirer) tags(x auth.Exchange, as auth.Role) link.Tags {
	if !w.tagged {
		return link.Tags{}
	}
	return link.TagsOf(x, as)
}
