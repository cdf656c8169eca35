// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/monitor/ranklog"
	"github.com/gvw-project/gvw/internal/spantree/core"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Server serves jobs. [NewServer] makes one. It is safe for concurrent use.
type Server struct {
	cfg     ServerConfig
	journal *journalWriter // nil: none
	faults  *faultWriter   // nil: no FaultDir
	stacks  *stacks

	mu          sync.Mutex
	core        *core.Machine
	conns       map[core.ConnID]*serverConn
	listeners   map[net.Listener]bool
	pending     map[string]int            // connections that have not registered, by address
	handshaking []core.ConnID             // the same, oldest first; some have registered or ended since
	waiting     int                       // number of connections that have not registered, without dropped ones
	silent      []core.ConnID             // connections that the newest tick found silent, reused
	probed      map[core.ConnID]time.Time // when the probes of those of them began
	maxWaiting  int                       // limit of waiting: half of the descriptors of this process
	budget      budget
	last        core.ConnID
	closed      bool
	draining    bool
	encoded     *message // encoding of encodedOf, so that an EPOCH_START for many is encoded once; nil: none
	encodedOf   protocol.Frame

	warnings   limiter
	handshakes chan struct{} // one slot per TLS handshake that computes

	born    time.Time
	elapsed atomic.Int64  // nanoseconds of the machine's clock since born, at the newest event
	done    chan struct{} // closed by Close, and when a draining server has no jobs
	endOnce sync.Once
	serving sync.WaitGroup // running calls of Serve
}

// NewServer prepares a server. With a StateFile it reads and locks the journal. The caller must
// call Close in any case.
func NewServer(cfg ServerConfig) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	s := &Server{
		cfg: cfg, stacks: newStacks(), conns: map[core.ConnID]*serverConn{}, listeners: map[net.Listener]bool{}, pending: map[string]int{},
		maxWaiting: max(8, transport.FileLimit()/2),
		done:       make(chan struct{}), handshakes: make(chan struct{}, cfg.MaxHandshakes), budget: budget{limit: cfg.MaxMemory},
	}
	term, runs := uint32(1), []*protocol.FinishedRecord(nil)
	if cfg.StateFile != "" {
		found, err := startJournal(cfg.StateFile, cfg.JournalTimeout, cfg.Log, func() (journalStart, error) {
			j, term, runs, err := openJournal(cfg.StateFile, cfg.MaxFinished, cfg.FinishedAge, time.Now())
			return journalStart{j, term, runs}, err
		})
		if err != nil {
			return nil, err
		}
		term, runs = found.term, found.runs
		s.journal = newJournalWriter(found.journal, cfg.Log, s.apply)
	}
	faults, err := newFaultWriter(cfg.FaultDir, cfg.Log)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.faults = faults
	var incarnation [8]byte
	protocol.Random(incarnation[:])
	s.core = core.NewMachine(core.Rules{
		MaxJobs: cfg.MaxJobs, MaxRanks: cfg.MaxRanks, Tick: core.TickInterval, JournalTimeout: cfg.JournalTimeout, LostAfter: cfg.LostAfter, Grace: cfg.Grace, PortTimeout: cfg.PortTimeout, ReplaceTimeout: cfg.ReplaceTimeout, IdleFor: cfg.IdleTimeout,
		Remember: cfg.MaxFinished, RememberBytes: cfg.MaxMemory / finishedShare, RememberFor: cfg.FinishedAge, Version: cfg.Version,
		Logs: ranklog.Limits{Total: int(cfg.MaxMemory / logShare), Job: int(cfg.MaxMemory / logShare / 4)},
	}, term, binary.LittleEndian.Uint64(incarnation[:]), protocol.Random)
	for _, r := range runs {
		s.core.Recall(r)
	}
	s.born = time.Now()
	s.core.Read(s.born)
	if term > 1 {
		s.core.BeginGrace()
	}
	return s, nil
}

// Serve accepts connections until ctx ends, Close is called, or a draining server has no jobs left.
// It then closes its connections, waits for their goroutines, and returns nil. It closes l. Several
// calls may run at the same time, each with a listener of its own.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if !s.open(l) {
		return errors.Join(net.ErrClosed, l.Close())
	}
	defer s.serving.Done()
	s.cfg.Log.Info("serving", "addr", l.Addr().String(), "term", s.core.Term, "protocols", s.protocols())
	ctx, cancel := context.WithCancel(ctx)
	var watcher, clients sync.WaitGroup
	watcher.Go(func() {
		s.watch(ctx, l)
		cancel()
	})
	err := s.accept(ctx, l, &clients)
	cancel()
	watcher.Wait()
	s.hangUpAll(l)
	clients.Wait()
	return err
}

// open registers a call of Serve; false: the server is closed.
func (s *Server) open(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.listeners[l] = true
	s.serving.Add(1)
	return true
}

// watch sends ticks to the machine. It closes the listener at the end of Serve.
func (s *Server) watch(ctx context.Context, l net.Listener) {
	t := time.NewTicker(core.TickInterval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.mu.Lock()
			tick := s.tick(time.Now())
			s.mu.Unlock()
			s.apply(tick)
			s.stacks.trim()
			continue
		case <-ctx.Done():
		case <-s.done:
		}
		_ = l.Close() // it may be closed already
		return
	}
}

// accept serves each connection on a goroutine of its own.
func (s *Server) accept(ctx context.Context, l net.Listener, clients *sync.WaitGroup) error {
	a := &transport.Acceptor{Listener: l, Shed: s.shedOne, Log: s.cfg.Log}
	defer a.Close()
	for {
		c, err := a.Accept(ctx)
		switch {
		case err == nil:
			if sc := s.take(c, l); sc != nil {
				clients.Go(sc.serve)
			}
		case ctx.Err() != nil || s.ended():
			return nil
		default:
			return fmt.Errorf("spantree: can no longer accept connections: %w", err)
		}
	}
}

// shedOne closes a connection that has not registered, where no descriptor is free.
func (s *Server) shedOne() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropHandshake()
}

// ended reports whether the server was closed, or has drained.
func (s *Server) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// take registers a connection; nil: it was rejected.
func (s *Server) take(nc net.Conn, l net.Listener) *serverConn {
	from := endpointOf(nc)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		_ = nc.Close() // nothing was sent
		return nil
	}
	// Unregistered connections may use half of the descriptors; members need the others.
	for s.waiting >= s.maxWaiting && s.dropHandshake() {
	}
	if why := s.rejection(from); why != "" {
		s.mu.Unlock()
		s.reject(nc, from, why)
		return nil
	}
	s.pending[from.Host]++
	s.waiting++
	s.last++
	if s.handshaking = append(s.handshaking, s.last); len(s.handshaking) > 2*len(s.conns)+64 {
		// dropHandshake skips entries of registered and ended connections. They are removed here, so
		// that the list does not grow with each connection that the server ever had.
		s.handshaking = slices.DeleteFunc(s.handshaking, func(id core.ConnID) bool { c := s.conns[id]; return id != s.last && (c == nil || c.registered) })
	}
	c := newServerConn(s, s.last, nc, from, l)
	s.conns[c.id] = c
	s.mu.Unlock()
	return c
}

// endpointOf returns the addresses of a connection without their ports: a source port identifies
// no client.
func endpointOf(c net.Conn) core.Endpoint {
	host := func(a net.Addr) string {
		h, _, err := net.SplitHostPort(a.String())
		if err != nil {
			return a.String()
		}
		return h
	}
	return core.Endpoint{Host: host(c.RemoteAddr()), Local: host(c.LocalAddr())}
}

// term returns the newest term, which the reports of ranks may raise.
func (s *Server) term() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.core.Term
}

// registered counts a connection that has registered.
func (s *Server) registered(c *serverConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.registered {
		c.registered = true
		if !c.dropped {
			s.waiting--
		}
		if s.pending[c.from.Host]--; s.pending[c.from.Host] == 0 {
			delete(s.pending, c.from.Host)
		}
	}
}

// forget removes a connection.
func (s *Server) forget(c *serverConn) {
	s.registered(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c.id)
	if !c.dropped {
		s.budget.Give(connBytes)
	}
	s.budget.Give(c.extra)
	s.budget.release(c.out...) // the writer has ended
}

// protocols returns the protocols of this server, for the log.
func (s *Server) protocols() string {
	creds := s.cfg.Credentials
	text := fmt.Sprintf("native %d", protocol.ProtocolVersion)
	if creds.Any() && creds.TLS != nil {
		text += " over TLS"
	}
	if creds.Any() && creds.Secret != nil {
		text += " with a secret"
	}
	if creds.VW() {
		text = "vw, " + text
	}
	return text
}

// apply passes an event to the machine and executes the actions. It waits neither for a client nor
// for the disk: frames are queued for the connections' writers, and records for the journal's. The
// log is written after the lock is released.
func (s *Server) apply(ev core.Event) { s.ask(ev) }

// ownConn is the number of no connection. Requests of this process have it.
const ownConn core.ConnID = 0

// ask is apply for a request of this process. It returns the frame that answers ownConn, or nil.
func (s *Server) ask(ev core.Event) (answer protocol.Frame) {
	events := []core.Event{ev}
	for len(events) > 0 {
		var notes []core.LogLine
		s.mu.Lock()
		out := s.core.Step(time.Now(), events[0])
		events = events[1:]
		for _, a := range out {
			switch a := a.(type) {
			case core.SendFrame:
				if a.Conn == ownConn {
					answer = a.Frame
					continue
				}
				s.send(a)
			case core.SendBytes:
				if c := s.conns[a.Conn]; c != nil {
					c.queue(a.Bytes)
				}
			case core.CloseConn:
				if c := s.conns[a.Conn]; c != nil {
					c.queue(nil)
				}
			case core.Persist:
				switch {
				case s.journal != nil:
					s.journal.add(a)
				case a.Receipt != 0:
					events = append(events, core.Persisted{Receipt: a.Receipt, Err: nil})
				}
			case core.LogLine:
				notes = append(notes, a)
			case core.FaultFound:
				s.faults.add(a)
			default:
				panic(fmt.Sprintf("BUG: spantree: unknown action %T", a))
			}
		}
		elapsed := s.core.Now.Sub(s.born)
		s.elapsed.Store(int64(elapsed))
		_, tick := ev.(core.TimePassed)
		if tick {
			s.budget.setKept(s.core.MemoryUse())
			s.expireWrites(elapsed)
		}
		if s.draining && s.core.Idle() {
			s.end()
		}
		s.mu.Unlock()
		if tick && s.journal != nil {
			s.journal.watch(elapsed)
		}
		for _, n := range notes {
			if n.RateLimited {
				s.complain(n.Text, n.Attrs...)
				continue
			}
			s.cfg.Log.LogAttrs(context.Background(), n.Level, n.Text, n.Attrs...)
		}
	}
	return answer
}

// expireWrites closes the connections of clients that do not read. now is the time of the machine's
// clock, so that a pause of the server does not count.
func (s *Server) expireWrites(now time.Duration) {
	for _, c := range s.conns {
		if since := c.writes.Load(); since > 0 && now-time.Duration(since) > s.cfg.WriteTimeout {
			c.slow.Store(true)
			c.abort()
		}
	}
}

// send queues a frame. A frame for thousands of ranks is encoded once.
func (s *Server) send(a core.SendFrame) {
	c := s.conns[a.Conn]
	if c == nil {
		return
	}
	if s.encodedOf != a.Frame {
		b, err := protocol.AppendFrame(nil, a.Frame)
		if err != nil {
			panic(fmt.Sprintf("BUG: spantree: the server made a frame over its limits: %v", err))
		}
		s.encoded, s.encodedOf = &message{b: b}, a.Frame
	}
	c.post(s.encoded)
	if _, own := a.Frame.(*protocol.JobsFrame); own { // large, and for this client only
		s.encoded, s.encodedOf = nil, nil
	}
}

// Drain ends the admission of new jobs. When the running ones have ended, Serve returns. Drain is
// idempotent.
func (s *Server) Drain() {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	s.apply(core.DrainRequested{})
}

// end makes all calls of Serve return.
func (s *Server) end() { s.endOnce.Do(func() { close(s.done) }) }

// hangUpAll closes the connections of a listener. While the server drains, their queued messages
// are sent first.
func (s *Server) hangUpAll(l net.Listener) {
	s.mu.Lock()
	delete(s.listeners, l)
	for _, c := range s.conns {
		if c.listener != l {
			continue
		}
		if s.draining && !s.closed {
			_ = c.raw.SetWriteDeadline(time.Now().Add(s.cfg.WriteTimeout)) // there are no more ticks
			c.queue(nil)                                                   // after a queued FINISHED
		} else {
			c.abort()
		}
	}
	s.mu.Unlock()
}

// Close ends Serve and all connections, and waits for them. Running jobs continue without the
// server if they can. Close is idempotent.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.serving.Wait()
		return nil
	}
	s.closed = true
	s.end()
	for l := range s.listeners {
		_ = l.Close() // Serve reports errors
	}
	for _, c := range s.conns {
		c.abort()
	}
	s.mu.Unlock()
	s.serving.Wait()
	s.stacks.close()
	err := s.faults.close()
	if s.journal == nil {
		return err
	}
	return errors.Join(err, s.journal.close())
}

// Status returns what STATUS answers.
func (s *Server) Status() protocol.ServerStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.core.Read(time.Now())
	return s.core.Status()
}

// Log returns the last lines of the log of a rank, at most n, of a job that runs or has ended. ok is false if the rank has
// sent none.
func (s *Server) Log(id protocol.Job, rank, n int) (log ranklog.RankLog, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.core.Log(id, rank, n)
}

// Cancel ends a job on request of a user of this process. It returns an error with the reason if there is no such job, or
// if the job can be cancelled only with its token.
func (s *Server) Cancel(id protocol.Job, reason string) error {
	answer := s.ask(core.CancelRequested{Conn: ownConn, From: core.Endpoint{Host: "this process"}, Cancel: &protocol.CancelFrame{UniqueID: id.UniqueID, RunKey: id.RunKey, Reason: reason}})
	if no, refused := answer.(*protocol.RefusedFrame); refused {
		return fmt.Errorf("spantree: job %v was not cancelled: %s", id, no.Reason)
	}
	return nil
}

// warn logs a fault of a connection.
func (s *Server) warn(c *serverConn, text string, err error) {
	s.complain(text, slog.String("from", c.from.Host), slog.Any("error", err))
}

// complain logs a warning about a client, at most maxWarnings per second.
func (s *Server) complain(text string, attrs ...slog.Attr) {
	ok, left := s.warnings.allow(time.Now())
	if !ok {
		return
	}
	if left > 0 {
		attrs = append(attrs, slog.Int("warnings_omitted", left))
	}
	s.cfg.Log.LogAttrs(context.Background(), slog.LevelWarn, text, attrs...)
}
