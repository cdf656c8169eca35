// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"cmp"
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
)

// Server serves jobs. Make one with [NewServer]; several goroutines may use it.
type Server struct {
	cfg     ServerConfig
	journal *journalWriter // nil: there is none

	mu         sync.Mutex
	mind       *machine
	conns      map[connID]*serverConn
	listeners  map[net.Listener]bool
	pending    map[string]int // connections that have not said what they want, by address
	strangers  []connID       // the same, oldest first; some are known by now, or gone
	waiting    int            // how many of them there are, without those that were dropped
	maxWaiting int            // of them, by the descriptors that this process may have
	budget     budget
	last       connID
	closed     bool
	draining   bool
	encoded    *parcel // of encodedOf: one START goes to many; nil: none
	encodedOf  frame

	warnings   limiter
	handshakes chan struct{} // one in it for each TLS handshake that works

	born    time.Time
	elapsed atomic.Int64  // nanoseconds of the machine's clock since then, at the newest event
	done    chan struct{} // closed by Close, and when a drained server is idle
	endOnce sync.Once
	serving sync.WaitGroup // calls of Serve
}

// NewServer prepares a server; with a StateFile it reads and locks the journal.
// Close must be called in the end, whether it has served or not.
func NewServer(cfg ServerConfig) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	s := &Server{
		cfg: cfg, conns: map[connID]*serverConn{}, listeners: map[net.Listener]bool{}, pending: map[string]int{},
		maxWaiting: max(8, transport.FileLimit()/2),
		done:       make(chan struct{}), handshakes: make(chan struct{}, cfg.MaxHandshakes), budget: budget{limit: cfg.MaxMemory},
	}
	term, runs := uint32(1), []*finishedRecord(nil)
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
	var incarnation [8]byte
	random(incarnation[:])
	s.mind = newMachine(rules{
		maxJobs: cfg.MaxJobs, maxRanks: cfg.MaxRanks, tick: tick, journalTimeout: cfg.JournalTimeout, lostAfter: cfg.LostAfter, portTimeout: cfg.PortTimeout, replaceTimeout: cfg.ReplaceTimeout, idleFor: cfg.IdleTimeout,
		remember: cfg.MaxFinished, rememberBytes: cfg.MaxMemory / finishedShare, rememberFor: cfg.FinishedAge, version: cfg.Version,
	}, term, binary.LittleEndian.Uint64(incarnation[:]), random)
	for _, r := range runs {
		s.mind.recall(r)
	}
	s.born = time.Now()
	s.mind.read(s.born)
	if term > 1 {
		s.mind.grace = s.mind.now.Add(cmp.Or(cfg.Grace, cfg.LostAfter))
	}
	return s, nil
}

// Serve accepts connections until ctx ends, Close is called, or a server that
// was told to [Server.Drain] has no job left. It returns nil then, after its
// connections are closed and their goroutines have ended. It closes l. A
// server may serve several listeners at a time.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if !s.open(l) {
		return errors.Join(net.ErrClosed, l.Close())
	}
	defer s.serving.Done()
	s.cfg.Log.Info("serving", "addr", l.Addr().String(), "term", s.mind.term, "protocols", s.protocols())
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

// watch keeps the server's time, and closes the listener at its end.
func (s *Server) watch(ctx context.Context, l net.Listener) {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.apply(ticked{})
			continue
		case <-ctx.Done():
		case <-s.done:
		}
		_ = l.Close() // it may be closed already
		return
	}
}

// accept serves every connection on its own goroutine.
func (s *Server) accept(ctx context.Context, l net.Listener, clients *sync.WaitGroup) error {
	a := &transport.Acceptor{Listener: l, Shed: s.shed, Log: s.cfg.Log}
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
			return fmt.Errorf("spantree: cannot accept connections any more: %w", err)
		}
	}
}

// shed makes room for a connection where no descriptor is left.
func (s *Server) shed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropStranger()
}

func (s *Server) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// take registers a connection; nil if it is one too many.
func (s *Server) take(nc net.Conn, l net.Listener) *serverConn {
	from := endpointOf(nc)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		_ = nc.Close() // nothing was said
		return nil
	}
	for s.waiting >= s.maxWaiting && s.dropStranger() {
	}
	if why := s.full(from); why != "" {
		s.mu.Unlock()
		s.turnAway(nc, from, why)
		return nil
	}
	s.pending[from.host]++
	s.waiting++
	s.last++
	if s.strangers = append(s.strangers, s.last); len(s.strangers) > 2*len(s.conns)+64 {
		s.strangers = slices.DeleteFunc(s.strangers, func(id connID) bool { c := s.conns[id]; return id != s.last && (c == nil || c.known) })
	}
	c := newServerConn(s, s.last, nc, from, l)
	s.conns[c.id] = c
	s.mu.Unlock()
	return c
}

func endpointOf(c net.Conn) endpoint {
	host := func(a net.Addr) string {
		h, _, err := net.SplitHostPort(a.String())
		if err != nil {
			return a.String()
		}
		return h
	}
	return endpoint{host: host(c.RemoteAddr()), local: host(c.LocalAddr())}
}

// term is the server's newest: it may be raised by what ranks report.
func (s *Server) term() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mind.term
}

// known counts a connection that has said what it wants.
func (s *Server) known(c *serverConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.known {
		c.known = true
		if !c.dropped {
			s.waiting--
		}
		if s.pending[c.from.host]--; s.pending[c.from.host] == 0 {
			delete(s.pending, c.from.host)
		}
	}
}

// forget ends a connection's registration.
func (s *Server) forget(c *serverConn) {
	s.known(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c.id)
	if !c.dropped {
		s.budget.give(connBytes)
	}
	s.budget.give(c.extra)
	s.budget.release(c.out...) // the writer has ended
}

// protocols are those that are spoken, for the log.
func (s *Server) protocols() string {
	creds := s.cfg.Credentials
	text := fmt.Sprintf("native %d", protocolVersion)
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

// apply hands the machine an event and does what it answers. Nothing here waits for a
// client or for the disk: what is sent is queued for the connection's writer, and
// records for the journal's. The log is written after the machine is free again.
func (s *Server) apply(ev event) {
	events := []event{ev}
	for len(events) > 0 {
		var notes []note
		s.mu.Lock()
		out := s.mind.step(time.Now(), events[0])
		events = events[1:]
		for _, a := range out {
			switch a := a.(type) {
			case sendFrame:
				s.send(a)
			case sendBytes:
				if c := s.conns[a.conn]; c != nil {
					c.queue(a.bytes)
				}
			case hangUp:
				if c := s.conns[a.conn]; c != nil {
					c.queue(nil)
				}
			case persist:
				switch {
				case s.journal != nil:
					s.journal.add(a)
				case a.receipt != 0:
					events = append(events, persisted{a.receipt, nil})
				}
			case note:
				notes = append(notes, a)
			default:
				panic(fmt.Sprintf("BUG: spantree: unknown action %T", a))
			}
		}
		elapsed := s.mind.now.Sub(s.born)
		s.elapsed.Store(int64(elapsed))
		_, tick := ev.(ticked)
		if tick {
			s.budget.keeps(s.mind.holds())
			s.expireWrites(elapsed)
		}
		if s.draining && s.mind.idle() {
			s.end()
		}
		s.mu.Unlock()
		if tick && s.journal != nil {
			s.journal.watch(elapsed)
		}
		for _, n := range notes {
			if n.often {
				s.complain(n.text, n.attrs...)
				continue
			}
			s.cfg.Log.LogAttrs(context.Background(), n.level, n.text, n.attrs...)
		}
	}
}

// expireWrites closes the connections of clients that do not read. The time is the
// machine's: a pause of the server does not count.
func (s *Server) expireWrites(now time.Duration) {
	for _, c := range s.conns {
		if since := c.writes.Load(); since > 0 && now-time.Duration(since) > s.cfg.WriteTimeout {
			c.slow.Store(true)
			c.abort()
		}
	}
}

// send queues a frame. A job's START is one frame for thousands of ranks: it
// is encoded once.
func (s *Server) send(a sendFrame) {
	c := s.conns[a.conn]
	if c == nil {
		return
	}
	if s.encodedOf != a.frame {
		b, err := appendFrame(nil, a.frame)
		if err != nil {
			panic(fmt.Sprintf("BUG: spantree: the server made a frame over its limits: %v", err))
		}
		s.encoded, s.encodedOf = &parcel{b: b}, a.frame
	}
	c.post(s.encoded)
	if _, own := a.frame.(*jobsFrame); own { // large, and this client's alone
		s.encoded, s.encodedOf = nil, nil
	}
}

// Drain takes no new jobs from now on; when those there are have ended,
// Serve returns. Draining twice is no different from once.
func (s *Server) Drain() {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	s.apply(drained{})
}

// end makes every Serve return.
func (s *Server) end() { s.endOnce.Do(func() { close(s.done) }) }

// hangUpAll closes the connections that came from a listener, those that have
// something to read left first.
func (s *Server) hangUpAll(l net.Listener) {
	s.mu.Lock()
	delete(s.listeners, l)
	for _, c := range s.conns {
		if c.listener != l {
			continue
		}
		if s.draining && !s.closed {
			_ = c.raw.SetWriteDeadline(time.Now().Add(s.cfg.WriteTimeout)) // no tick comes any more
			c.queue(nil)                                                   // a last BYE may still be under way
		} else {
			c.abort()
		}
	}
	s.mu.Unlock()
}

// Close ends Serve and all connections, and waits for them. Jobs that run are
// left to themselves. Close is idempotent.
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
		_ = l.Close() // its Serve reports what matters
	}
	for _, c := range s.conns {
		c.abort()
	}
	s.mu.Unlock()
	s.serving.Wait()
	if s.journal == nil {
		return nil
	}
	return s.journal.close()
}

// Status is what a client would be told by [Status].
func (s *Server) Status() ServerStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mind.read(time.Now())
	return s.mind.status()
}

// warn logs what a connection did wrong.
func (s *Server) warn(c *serverConn, text string, err error) {
	s.complain(text, slog.String("from", c.from.host), slog.Any("error", err))
}

// complain logs a warning about a client, unless there are too many.
func (s *Server) complain(text string, attrs ...slog.Attr) {
	ok, left := s.warnings.let(time.Now())
	if !ok {
		return
	}
	if left > 0 {
		attrs = append(attrs, slog.Int("warnings_left_out", left))
	}
	s.cfg.Log.LogAttrs(context.Background(), slog.LevelWarn, text, attrs...)
}
