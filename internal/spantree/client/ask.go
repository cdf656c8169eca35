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

// Status requests the list of jobs of the server at host:port. A nil network is TCP. The call takes
// at most 10 s.
func Status(ctx context.Context, network transport.Network, server string, creds *auth.Credentials) (*protocol.ServerStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	s, err := endpointAt(network, server, creds).status(ctx)
	return s, requestError(server, "list the jobs", err)
}

// endpointAt returns the endpoint of a request from outside of a job.
func endpointAt(network transport.Network, server string, creds *auth.Credentials) endpoint {
	if network == nil {
		network = transport.TCP
	}
	return endpoint{network, server, creds}
}

// requestError returns the error of a request from outside of a job. A refusal is returned as it
// is.
func requestError(server, doing string, err error) error {
	if _, refused := errors.AsType[*protocol.RefusedError](err); refused || err == nil {
		return err
	}
	return &protocol.ServerError{Server: server, Doing: doing, Err: err}
}

// status requests and decodes the list of jobs.
func (g endpoint) status(ctx context.Context) (*protocol.ServerStatus, error) {
	answer, err := g.request(ctx, &protocol.StatusFrame{})
	if errors.Is(err, errVWServer) {
		return nil, fmt.Errorf("%w, which does not list its jobs", err)
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
	return nil, &protocol.FrameError{Type: protocol.TypeOf(answer), Err: errors.New("want JOBS in answer to STATUS")}
}

// Cancellation names a job to cancel.
type Cancellation struct {
	Job    protocol.Job
	Reason string // sent to the ranks
	// Owner is the JoinConfig.Owner of the job's ranks; nil: they have none.
	Owner *auth.Secret
}

// Cancel requests the end of a job from the server at host:port. The job's ranks fail with the
// reason. If there is no such job, or it has another owner, the error is a *RefusedError. A nil
// network is TCP. The call takes at most 10 s.
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
		err = fmt.Errorf("%w, which cannot cancel jobs", err)
	}
	if err == nil {
		switch f := answer.(type) {
		case *protocol.FinishedFrame:
			return nil
		case *protocol.RefusedFrame:
			return g.refusal(f)
		}
		err = &protocol.FrameError{Type: protocol.TypeOf(answer), Err: errors.New("want FINISHED in answer to CANCEL")}
	}
	return requestError(server, "cancel a job", err)
}

// request sends one frame over a connection of its own, and returns the answer.
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

// claim returns the claim that cancels an owner's jobs. Ranks send only its digest to the server: a
// server that lists its jobs therefore discloses no claim.
func claim(owner *auth.Secret) []byte {
	key := owner.Claim()
	return key[:]
}
