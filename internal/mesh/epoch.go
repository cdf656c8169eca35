// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// Conn is an open connection to a neighbour, after its handshake.
type Conn struct {
	net.Conn
	// Host is the peer's address, for messages.
	Host string
	// Exchange and Role make the tags or the seal of what follows on the connection. Role is
	// this rank's side of the handshake. In a job with vw workers, which have no handshake,
	// both are zero.
	Exchange auth.Exchange
	Role     auth.Role
}

// EpochConfig describes an epoch to a mesh.
type EpochConfig struct {
	// Wiring is the epoch as the server has announced it.
	Wiring *client.Wiring
	// Members are the ranks that take part. nil in a job with vw workers.
	Members members.Set
	// Tree has the connections that Connect opens, by position. Self is this rank's position.
	Tree schedule.Tree
	Self int
	// Over is closed when the epoch has ended.
	Over <-chan struct{}
	// Later means that the job had an epoch before: some ranks may still be at work, so Connect
	// waits for them without a limit. A rank at whose address nothing listens is unreachable after
	// Unanswered.
	Later bool
	// Unanswered is the time without a listener after which a rank is unreachable, with Later; at
	// least 20 s. 0: 20 s.
	Unanswered time.Duration
	// AskAfter is the time after which Ask is called for a connection that does not open, and
	// called again; 0: never.
	AskAfter time.Duration
	// Ask asks the server about the connection to a rank. detail is for its log.
	Ask func(ctx context.Context, rank int, detail string)
}

// Epoch is the connections of one epoch: first those of the tree, on which every job
// rests, later those that a collective needs. Of two ranks the child connects to its
// parent. If neither is the other's parent, the higher rank connects to the lower one.
type Epoch struct {
	EpochConfig
	cfg      Config
	listener net.Listener
	wiring   *client.Wiring
	key      auth.Key
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	work     sync.WaitGroup

	mu    sync.Mutex
	conns map[int]Conn  // open and not handed over yet
	why   map[int]error // the newest error of an attempt to reach a rank
	take  func(rank int, c Conn) error
	fault error
	lost  int           // the rank because of which Connect has failed; schedule.None: none
	opens time.Time     // since when Connect waits; zero: it does not
	ready chan struct{} // closed: the tree's connections are open, or fault is set
}

// Epoch prepares the connections of an epoch. Nothing is opened before Connect.
func (m *Mesh) Epoch(cfg EpochConfig) *Epoch {
	e := &Epoch{
		EpochConfig: cfg, cfg: m.cfg, listener: m.listener, wiring: cfg.Wiring, key: m.cfg.key(cfg.Wiring),
		conns: map[int]Conn{}, why: map[int]error{}, lost: schedule.None, ready: make(chan struct{}),
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

func (e *Epoch) parent() int { return e.Members.Rank(e.Tree.Parent(e.Self)) }

// neighbours returns the parent, the left and the right child in the tree; schedule.None for
// each that does not exist.
func (e *Epoch) neighbours() [3]int {
	left, right := e.Tree.Children(e.Self)
	return [3]int{e.parent(), e.Members.Rank(left), e.Members.Rank(right)}
}

// Connect opens the connections of the tree. It fails when ctx ends, when the epoch ends
// ([ErrOver]), when Close is called ([ErrClosed]), or when further attempts to reach the parent
// are useless; then the epoch is closed.
func (e *Epoch) Connect(ctx context.Context) (err error) {
	e.update(func() {}) // a job of one member has no connections
	if p := e.parent(); p != schedule.None {
		e.work.Go(func() { _ = e.dial(ctx, p) }) // missing has its error
	}
	if e.wiring.Stream { // a vw worker first connects, then accepts, and sends nothing before it has done both
		e.work.Go(e.acceptStream)
	}
	if err = e.await(ctx); err != nil {
		e.End()
	} else if e.wiring.Stream {
		e.listener.Close()
	}
	return err
}

// await waits for the connections of the tree. If one does not open, both ends ask the server:
// the last message of a handshake may have been dropped, and then one end takes the connection
// for open.
func (e *Epoch) await(ctx context.Context) error {
	var overdue <-chan time.Time
	if e.AskAfter > 0 {
		ticker := time.NewTicker(e.AskAfter)
		defer ticker.Stop()
		overdue = ticker.C
		e.setOpens(time.Now())
		defer e.setOpens(time.Time{})
	}
	for {
		select {
		case <-e.ready:
			return e.fault
		case <-e.Over:
			return ErrOver
		case <-e.ctx.Done():
			select {
			case <-e.Over: // the reason for Close
				return ErrOver
			default:
				return ErrClosed
			}
		case <-ctx.Done():
			e.blame()
			return fmt.Errorf("rank %d: wiring: waiting for %s: %w", e.cfg.Rank, e.missing(), context.Cause(ctx))
		case <-overdue:
			if waits := e.Waits(); waits.Rank >= 0 {
				e.work.Go(func() { e.Ask(e.ctx, waits.Rank, waits.Text) })
			}
		}
	}
}

// blame makes the first neighbour without a connection the reason why Connect fails.
func (e *Epoch) blame() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if lacking := e.lacking(); len(lacking) > 0 {
		e.lost = lacking[0]
	}
}

func (e *Epoch) setOpens(since time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opens = since
}

// sayAfter is the shortest wait that Waits describes in words.
const sayAfter = time.Second

// Waits returns what a heartbeat reports while Connect waits: the first rank to which there is
// no connection yet. Its Rank is -1 if Connect does not wait, or waits without AskAfter.
func (e *Epoch) Waits() client.Waits {
	waits := client.Waits{Rank: -1}
	e.mu.Lock()
	lacking, opens := e.lacking(), e.opens
	e.mu.Unlock()
	if opens.IsZero() || len(lacking) == 0 {
		return waits
	}
	waits.Rank = lacking[0]
	if took := time.Since(opens); took >= sayAfter {
		waits.Text = fmt.Sprintf("rank %d: wiring: %v, waiting for %s", e.cfg.Rank, took.Round(time.Second), e.missing())
	}
	return waits
}

// HandOver passes the open connections to take, and every later one as soon as it opens. take
// is called under the lock of the epoch, so it must not call the epoch. If it returns an error,
// the connection is closed.
func (e *Epoch) HandOver(take func(rank int, c Conn) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.take = take
	var errs []error
	for rank, c := range e.conns {
		if err := take(rank, c); err != nil {
			errs = append(errs, err)
			c.Close()
		}
	}
	clear(e.conns)
	return errors.Join(errs...)
}

// Plain reports whether all open connections are bare TCP, without TLS.
func (e *Epoch) Plain() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.conns {
		if _, ok := c.Conn.(*net.TCPConn); !ok {
			return false
		}
	}
	return true
}

// Close opens no further connections, and closes those that are not handed over.
func (e *Epoch) Close() {
	e.cancel()
	if e.wiring.Stream {
		e.listener.Close()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.take = func(int, Conn) error { return ErrOver }
	for _, c := range e.conns {
		c.Close()
	}
	clear(e.conns)
}

// End is Close. It waits for all goroutines of the epoch.
func (e *Epoch) End() {
	e.Close()
	e.work.Wait()
}

// update applies a change, and wakes Connect if the change completes the tree or fails it.
func (e *Epoch) update(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
	if e.take == nil && (len(e.lacking()) == 0 || e.fault != nil) {
		select {
		case <-e.ready:
		default:
			close(e.ready)
		}
	}
}

// lacking returns the neighbours in the tree that are not connected yet. The lock is held.
func (e *Epoch) lacking() (ranks []int) {
	for _, rank := range e.neighbours() {
		if _, ok := e.conns[rank]; rank != schedule.None && !ok {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// install hands a connection over, or keeps it for HandOver.
func (e *Epoch) install(rank int, c Conn) (err error) {
	transport.Tune(c.Conn)
	e.update(func() {
		_, taken := e.conns[rank]
		switch {
		case e.take != nil:
			err = e.take(rank, c)
		case taken:
			err = fmt.Errorf("rank %d is connected already", rank)
		default:
			e.conns[rank] = c
		}
	})
	return err
}

// dials reports which of two ranks connects: true is from, false is to.
func (e *Epoch) dials(from, to int) bool {
	f, t := e.Members.Position(from), e.Members.Position(to)
	switch {
	case e.Tree.Parent(f) == t:
		return true
	case e.Tree.Parent(t) == f:
		return false
	}
	return from > to
}

// expects reports whether a rank may connect to this one.
func (e *Epoch) expects(rank int) bool {
	return e.Members.Position(rank) >= 0 && rank != e.cfg.Rank && e.dials(rank, e.cfg.Rank)
}

// acceptStream accepts as many connections from allowed networks as there are children: vw's
// workers do not identify themselves.
func (e *Epoch) acceptStream() {
	a := &transport.Acceptor{Listener: e.listener, Log: e.cfg.Log.With("rank", e.cfg.Rank)}
	defer a.Close()
	left, right := e.Tree.Children(e.Self)
	for _, child := range [...]int{left, right} {
		if child == schedule.None {
			continue
		}
		c, err := a.Accept(e.ctx)
		for err == nil && !e.cfg.admits(c) {
			c, err = a.Accept(e.ctx)
		}
		if err != nil {
			return // the listener is closed
		}
		if e.install(child, Conn{Conn: c, Host: c.RemoteAddr().String()}) != nil {
			c.Close() // the epoch has ended
		}
	}
}
