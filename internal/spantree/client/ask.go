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
	"github.com/gvw-project/gvw/internal/monitor/ranklog"
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

// LogRequest names the lines that Logs requests.
type LogRequest struct {
	Job   protocol.Job
	Rank  int // -1: all ranks
	Lines int // the last ones of each rank
}

// Logs requests the last lines of the logs of a job's ranks (--log_to_server) from the server at host:port. The job runs or has
// ended. Ranks that have sent none are left out. A nil network is TCP. The call takes at most 10 s.
func Logs(ctx context.Context, network transport.Network, server string, creds *auth.Credentials, r LogRequest) ([]ranklog.RankLog, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	logs, err := endpointAt(network, server, creds).logs(ctx, r)
	return logs, requestError(server, "read the logs of ranks", err)
}

// logs requests and decodes the logs of ranks. A server that has no logs answers STATUS, which follows the request.
func (g endpoint) logs(ctx context.Context, r LogRequest) (logs []ranklog.RankLog, err error) {
	answer, err := g.request(ctx, &protocol.LogRequestFrame{UniqueID: r.Job.UniqueID, RunKey: r.Job.RunKey, Rank: r.Rank, Lines: uint32(r.Lines)}, &protocol.StatusFrame{})
	if err != nil {
		return nil, err
	}
	switch f := answer.(type) {
	case *protocol.LogsFrame:
		return logs, json.Unmarshal([]byte(f.JSON), &logs)
	case *protocol.JobsFrame:
		return nil, errors.New("this server is of an older release, which keeps no logs of ranks: replace it by the release of this program")
	case *protocol.RefusedFrame:
		return nil, g.refusal(f)
	}
	return nil, &protocol.FrameError{Type: protocol.TypeOf(answer), Err: errors.New("want LOGS in answer to LOG_REQUEST")}
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

// request sends frames over a connection of its own, and returns the first answer.
func (g endpoint) request(ctx context.Context, questions ...protocol.Frame) (answer protocol.Frame, err error) {
	conn, _, err := g.connect(ctx, func(c net.Conn, frames *protocol.FrameReader) error {
		var b []byte
		for _, q := range questions {
			if b, err = protocol.AppendFrame(b, q); err != nil {
				return err
			}
		}
		_, err = c.Write(b)
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
