// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// The purposes of a connection.
const (
	forProbes  = 1
	forControl = 2
)

const (
	greetingSize = auth.NonceSize + 4 + 1 // nonce, rank of the sender, purpose
	dialsAtOnce  = 32                     // concurrent dials of a rank
)

// exam is one rank's part in an examination.
type exam struct {
	cfg      Config
	listener net.Listener
	key      auth.Key // of the epoch
	ranks    []address.View
	ways     []Way      // paths from this rank, by rank
	conns    []net.Conn // connections of these paths
	controls chan arrival
	work     sync.WaitGroup

	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
}

// arrival is a control connection that a rank has opened.
type arrival struct {
	rank int
	conn net.Conn
}

func newExam(cfg Config, l net.Listener, w *client.Wiring) *exam {
	e := &exam{
		cfg: cfg, listener: l, key: cfg.key(w), conns: make([]net.Conn, cfg.Total),
		controls: make(chan arrival, cfg.Total), open: map[net.Conn]bool{},
	}
	for rank := range cfg.Total {
		e.ranks = append(e.ranks, address.View{Rank: rank, Advertised: w.Address(rank), Observed: w.Seen(rank)})
		e.ways = append(e.ways, Way{From: cfg.Rank, To: rank})
	}
	e.work.Go(e.accept)
	return e
}

// end closes all connections and waits for the goroutines of e.
func (e *exam) end() {
	e.listener.Close()
	e.closeConns()
	e.work.Wait()
}

// closeConns closes all connections, also those that open later.
func (e *exam) closeConns() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for c := range e.open {
		c.Close()
	}
}

// track registers a connection for end.
func (e *exam) track(c net.Conn) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		c.Close()
		return net.ErrClosed
	}
	e.open[c] = true
	return nil
}

// accept accepts connections until the end.
func (e *exam) accept() {
	for {
		c, err := e.listener.Accept()
		if err != nil {
			return
		}
		e.work.Go(func() {
			if err := e.accepted(c); err != nil {
				e.cfg.Log.Debug("a connection has ended", "rank", e.cfg.Rank, "from", c.RemoteAddr(), "error", err)
				c.Close()
			}
		})
	}
}

// greeting returns the first message of a connection.
func (e *exam) greeting(purpose byte) []byte {
	nonce := auth.Nonce()
	b := binary.LittleEndian.AppendUint32(nonce[:], uint32(e.cfg.Rank))
	return append(b, purpose)
}

// key returns the key of the connections between the ranks.
func (c Config) key(w *client.Wiring) auth.Key {
	return c.Credentials.Epoch(auth.Scope{
		UniqueID: c.Job.UniqueID, RunKey: c.Job.RunKey,
		Term: w.Epoch.Term, N: w.Epoch.N, Incarnation: w.Epoch.Incarnation, Token: w.Token,
	})
}

// seal protects a control connection against changes if the ranks share a secret and do not use
// TLS. Probes are not sealed: only their duration counts, not their contents.
func (e *exam) seal(c net.Conn, x auth.Exchange, purpose byte, as auth.Role) net.Conn {
	creds := e.cfg.Credentials
	if purpose == forProbes || creds == nil || creds.Secret == nil || creds.TLS != nil {
		return c
	}
	return x.Seal(c, as)
}

// decodeGreeting decodes a greeting.
func (e *exam) decodeGreeting(greeting []byte) (rank int, purpose byte, err error) {
	rank = int(binary.LittleEndian.Uint32(greeting[auth.NonceSize:]))
	if rank >= e.cfg.Total {
		return 0, 0, fmt.Errorf("the peer is not a rank of this examination")
	}
	return rank, greeting[greetingSize-1], nil
}

// accepted completes the handshake of a connection, and serves it until its end.
func (e *exam) accepted(bare net.Conn) error {
	if err := e.track(bare); err != nil {
		return err
	}
	bare.SetDeadline(time.Now().Add(e.cfg.Patience))
	c, err := e.cfg.Credentials.Server(context.Background(), bare) // bounded by the deadline
	if err != nil {
		return err
	}
	var b [greetingSize]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return err
	}
	rank, purpose, err := e.decodeGreeting(b[:])
	var x auth.Exchange
	if err == nil {
		x, err = e.key.Respond(c, b[:], e.greeting(purpose))
	}
	if err != nil {
		return err
	}
	c = e.seal(c, x, purpose, auth.Server)
	c.SetDeadline(time.Time{})
	if purpose == forProbes {
		return serve(c)
	}
	select {
	case e.controls <- arrival{rank, c}:
		return nil
	default:
		return fmt.Errorf("rank %d opened too many control connections", rank)
	}
}

// dial opens a connection to a rank.
func (e *exam) dial(ctx context.Context, rank int, purpose byte) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, e.cfg.Patience, fmt.Errorf("no answer within %v", e.cfg.Patience))
	defer cancel()
	bare, err := e.cfg.Network.Dial(ctx, e.ranks[rank].Advertised)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, err
	}
	if err := e.track(bare); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { bare.SetDeadline(time.Unix(1, 0)) })()
	who := rank
	c, err := e.cfg.Credentials.Client(ctx, bare, "")
	if err == nil {
		var b []byte
		var x auth.Exchange
		if b, x, err = e.key.Initiate(c, e.greeting(purpose), greetingSize); err == nil {
			who, _, err = e.decodeGreeting(b)
			c = e.seal(c, x, purpose, auth.Client)
		}
	}
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == io.EOF:
		err = fmt.Errorf("the peer closed the connection: it is not a rank of this examination")
	case err == nil && who != rank:
		err = fmt.Errorf("the address belongs to rank %d", who)
	}
	if err != nil {
		bare.Close()
		return nil, auth.Explain(err)
	}
	return c, nil
}

// reach dials all other ranks.
func (e *exam) reach(ctx context.Context) {
	var all sync.WaitGroup
	slots := make(chan struct{}, dialsAtOnce)
	for rank := range e.ranks {
		if rank == e.cfg.Rank {
			continue
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			c, err := e.dial(ctx, rank, forProbes)
			e.conns[rank] = c
			if err != nil {
				e.ways[rank].Missing, e.ways[rank].Fault = true, err.Error()
			}
		})
	}
	all.Wait()
}

// measure measures the path to a rank.
func (e *exam) measure(rank int) Way {
	if c := e.conns[rank]; c != nil {
		measure(c, &e.ways[rank], e.cfg.Long, e.cfg.Patience)
	}
	return e.ways[rank]
}
