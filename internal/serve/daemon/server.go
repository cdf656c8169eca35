// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Server serves connections.
type Server struct {
	cfg      Config
	buffers  sync.Pool            // of *buffers
	awaiting atomic.Int32         // connections in await
	last     atomic.Pointer[conn] // whose lines were read last

	mu    sync.Mutex
	conns map[net.Conn]struct{} // nil: the server ends
	all   sync.WaitGroup
}

// buffers are what a connection needs while it processes lines.
type buffers struct {
	in  [64 << 10]byte
	out []byte
}

// maxAnswers is the number of bytes of answers after which they are sent, also if further lines
// have arrived.
const maxAnswers = 64 << 10

// New returns a server.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Server{
		cfg:     cfg.withDefaults(),
		buffers: sync.Pool{New: func() any { return new(buffers) }},
		conns:   map[net.Conn]struct{}{},
	}, nil
}

// Serve accepts connections until ctx ends, and returns nil then. Connections first answer the
// lines that they have read. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() {
		_ = l.Close() // ends Accept
		s.end()
	})
	defer s.all.Wait()
	defer func() {
		if stop() { // ctx has not ended: Accept has failed
			s.end()
		}
	}()
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			s.serve(ctx, nc)
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		default: // too many open files, for example: clients that leave make room
			s.cfg.Log.Warn("connection not accepted", "error", err)
			select {
			case <-time.After(retryAccept):
			case <-ctx.Done():
			}
		}
	}
}

// retryAccept is the time before Accept is tried again after an error.
const retryAccept = 100 * time.Millisecond

// end makes all connections end: reads return at once.
func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for nc := range s.conns {
		_ = nc.SetReadDeadline(time.Unix(1, 0))
	}
	s.conns = nil
}

// serve starts to serve a connection.
func (s *Server) serve(ctx context.Context, nc net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil || len(s.conns) >= s.cfg.MaxConns {
		if s.conns != nil {
			s.cfg.Log.Warn("connection closed: there are too many", "from", nc.RemoteAddr().String(), "most", s.cfg.MaxConns)
		}
		_ = nc.Close() // nothing was sent
		return
	}
	s.conns[nc] = struct{}{}
	s.all.Go(func() {
		c := conn{s: s, nc: nc, near: onThisMachine(nc)}
		c.serve(ctx)
		s.mu.Lock()
		delete(s.conns, nc)
		s.mu.Unlock()
		_ = nc.Close() // after the removal: a client that reads the end can connect again
	})
}

// onThisMachine reports whether a client connects over the loopback interface or a local socket.
func onThisMachine(nc net.Conn) bool {
	switch a := nc.RemoteAddr().(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}
