// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Status asks the server at host:port for its jobs. network nil is TCP. It
// takes as long as ctx allows, at most 10 s.
func Status(ctx context.Context, network transport.Network, server string, creds *auth.Credentials) (*protocol.ServerStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	s, err := endpointAt(network, server, creds).status(ctx)
	return s, requestError(server, "list the jobs", err)
}

func endpointAt(network transport.Network, server string, creds *auth.Credentials) endpoint {
	if network == nil {
		network = transport.TCP
	}
	return endpoint{network, server, creds}
}

// asking says what was asked for in vain. A refusal says enough.
func requestError(server, doing string, err error) error {
	if _, refused := errors.AsType[*protocol.RefusedError](err); refused || err == nil {
		return err
	}
	return &protocol.ServerError{Server: server, Doing: doing, Err: err}
}

func (g endpoint) status(ctx context.Context) (*protocol.ServerStatus, error) {
	answer, err := g.request(ctx, &protocol.StatusFrame{})
	if errors.Is(err, errVWServer) {
		return nil, fmt.Errorf("%w, which tells nobody about its jobs", err)
	}
	if err != nil {
		return nil, err
	}
	switch f := answer.(type) {
	case *protocol.JobsFrame:
		s := new(protocol.ServerStatus)
		return s, json.Unmarshal([]byte(f.JSON), s)
	case *protocol.RefusedFrame:
		return nil, g.refusal(f)
	}
	return nil, &protocol.FrameError{Type: protocol.TypeOf(answer), Err: errors.New("a server answers STATUS by JOBS")}
}

// Cancellation is a job to be ended, and why.
type Cancellation struct {
	Job    protocol.Job
	Reason string // for the ranks
	// Owner is what the job's ranks were given as JoinConfig.Owner; nil where that was
	// nothing.
	Owner *auth.Secret
}

// Cancel asks the server at host:port to end a job: its ranks fail with the reason. A
// job that is not there, or another's, is a *RefusedError. network nil is TCP. It takes
// as long as ctx allows, at most 10 s.
func Cancel(ctx context.Context, network transport.Network, server string, creds *auth.Credentials, c Cancellation) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	f := &protocol.CancelFrame{UniqueID: c.Job.UniqueID, RunKey: c.Job.RunKey, Reason: c.Reason}
	if c.Owner != nil {
		copy(f.Claim[:], claim(c.Owner))
	}
	g := endpointAt(network, server, creds)
	answer, err := g.request(ctx, f)
	if errors.Is(err, errVWServer) {
		err = fmt.Errorf("%w, which cancels nothing", err)
	}
	if err == nil {
		switch f := answer.(type) {
		case *protocol.FinishedFrame:
			return nil
		case *protocol.RefusedFrame:
			return g.refusal(f)
		}
		err = &protocol.FrameError{Type: protocol.TypeOf(answer), Err: errors.New("a server answers CANCEL by FINISHED")}
	}
	return requestError(server, "cancel a job", err)
}

// ask sends one frame on a connection of its own and returns the answer.
func (g endpoint) request(ctx context.Context, question protocol.Frame) (answer protocol.Frame, err error) {
	conn, _, err := g.connect(ctx, func(c net.Conn, frames *protocol.FrameReader) error {
		b, err := protocol.AppendFrame(nil, question)
		if err == nil {
			_, err = c.Write(b)
		}
		if err == nil {
			answer, err = frames.Next()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	_ = conn.Close() // the answer is complete
	return answer, nil
}

// claim is what who owns a job shows to cancel it. The server knows its digest alone, from
// the ranks; so a server that lists jobs gives nothing away.
func claim(owner *auth.Secret) []byte {
	key := owner.Claim()
	return key[:]
}
