// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"net"
	"strconv"
)

// Local is a server in this process.
type Local struct {
	Server *Server
	Port   int // on which it listens
	served chan error
}

// StartLocal starts a server on a port of the loopback interface; port 0 is any free one.
func StartLocal(ctx context.Context, port int, cfg ServerConfig) (*Local, error) {
	return StartAt(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), cfg)
}

// StartAt starts a server that listens on address, host:port. Without a host it listens on all addresses.
func StartAt(ctx context.Context, address string, cfg ServerConfig) (*Local, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	s, err := NewServer(cfg)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	ls := &Local{Port: l.Addr().(*net.TCPAddr).Port, Server: s, served: make(chan error, 1)}
	// The server outlives an interrupted ctx, since workers that are being stopped send LEAVE to it.
	go func() { ls.served <- s.Serve(context.WithoutCancel(ctx), l) }()
	return ls, nil
}

// Stop ends the server and waits for it.
func (s *Local) Stop() error {
	err := s.Server.Close()
	if serr := <-s.served; serr != nil && !errors.Is(serr, net.ErrClosed) {
		err = errors.Join(err, serr)
	}
	return err
}
