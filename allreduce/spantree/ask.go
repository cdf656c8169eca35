// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// Status asks the server at host:port for its jobs. network nil is TCP. It
// takes as long as ctx allows, at most 10 s.
func Status(ctx context.Context, network transport.Network, server string) (*ServerStatus, error) {
	if network == nil {
		network = transport.TCP
	}
	ctx, cancel := context.WithTimeout(ctx, dialOnce)
	defer cancel()
	s, err := askStatus(ctx, network, server)
	if err != nil {
		return nil, &ServerError{Server: server, Doing: "list the jobs", Err: err}
	}
	return s, nil
}

func askStatus(ctx context.Context, network transport.Network, server string) (*ServerStatus, error) {
	answer, err := ask(ctx, network, server, &statusFrame{})
	if errors.Is(err, errVWServer) {
		return nil, fmt.Errorf("%w, which tells nobody about its jobs", err)
	}
	if err != nil {
		return nil, err
	}
	switch f := answer.(type) {
	case *jobsFrame:
		s := new(ServerStatus)
		return s, json.Unmarshal([]byte(f.JSON), s)
	case *refusedFrame:
		return nil, &RefusedError{Server: server, Code: f.Code, Reason: f.Reason}
	}
	return nil, &FrameError{Type: typeOf(answer), Err: errors.New("a server answers STATUS by JOBS")}
}

// Cancel asks the server at host:port to end a job: its ranks fail with the reason. A
// job that is not there is a *RefusedError. network nil is TCP. It takes as long as ctx
// allows, at most 10 s.
func Cancel(ctx context.Context, network transport.Network, server string, job Job, reason string) error {
	if network == nil {
		network = transport.TCP
	}
	ctx, cancel := context.WithTimeout(ctx, dialOnce)
	defer cancel()
	answer, err := ask(ctx, network, server, &cancelFrame{UniqueID: job.UniqueID, RunKey: job.RunKey, Reason: reason})
	if errors.Is(err, errVWServer) {
		err = fmt.Errorf("%w, which cancels nothing", err)
	}
	if err == nil {
		switch f := answer.(type) {
		case *byeFrame:
			return nil
		case *refusedFrame:
			return &RefusedError{Server: server, Code: f.Code, Reason: f.Reason}
		}
		err = &FrameError{Type: typeOf(answer), Err: errors.New("a server answers CANCEL by BYE")}
	}
	return &ServerError{Server: server, Doing: "cancel a job", Err: err}
}

// ask sends one frame on a connection of its own and returns the answer.
func ask(ctx context.Context, network transport.Network, server string, question frame) (answer frame, err error) {
	conn, _, err := converse(ctx, network, server, func(c net.Conn, frames *frameReader) error {
		b, err := appendFrame(nil, question)
		if err == nil {
			_, err = c.Write(b)
		}
		if err == nil {
			answer, err = frames.next()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	_ = conn.Close() // the answer is complete
	return answer, nil
}
