// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// localServer is the spanning_tree server of a local job, in this process.
type localServer struct {
	port   int
	server *server.Server
	served chan error
}

// startServer serves on the loopback; port 0 is any free one.
func startServer(ctx context.Context, port int, creds *auth.Credentials, log *slog.Logger) (*localServer, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("cannot start the server (another --port, or none, may help): %w", err)
	}
	s, err := server.NewServer(server.ServerConfig{Credentials: creds, Log: log})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	ls := &localServer{port: l.Addr().(*net.TCPAddr).Port, server: s, served: make(chan error, 1)}
	// It outlives an interrupted ctx: workers that are told to end say so to it.
	go func() { ls.served <- s.Serve(context.WithoutCancel(ctx), l) }()
	return ls, nil
}

// stop ends the server and waits for it.
func (s *localServer) stop() error {
	err := s.server.Close()
	if serr := <-s.served; serr != nil && !errors.Is(serr, net.ErrClosed) {
		err = errors.Join(err, serr)
	}
	return err
}
