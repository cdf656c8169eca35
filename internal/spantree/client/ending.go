// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"fmt"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Complete reports that this rank has completed the last step: the SHA-256 of its model, and the
// names of the files that it must deliver. It waits until all ranks have completed the step with
// the same digest. It returns the files that this rank must still deliver: another attempt of the
// rank may have delivered some. In a job with vw workers, whose protocol has no such end, it
// returns all of them at once.
func (m *Member) Complete(ctx context.Context, sha256 [32]byte, owes []string) (deliver []string, err error) {
	if m.Streams() {
		return owes, nil
	}
	_ = m.write(m.appendTraffic(nil)...) // the reader handles the end of the connection
	if err := m.sendLogged(&protocol.CompleteFrame{Epoch: m.epoch(), Step: m.cfg.Steps.Position().Completed.Step, Model: sha256, Owed: owes}); err != nil {
		return nil, m.writeError("complete the job", err)
	}
	over := false // another attempt of the rank has completed the job
	err = m.waitUnlessLeft(ctx, "complete the job", func() bool {
		over = m.deliver == nil && m.gotFinished
		return m.deliver != nil || m.gotFinished
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case !over:
		return m.deliver.Files, nil
	case m.model != sha256:
		return nil, m.finishedError()
	}
	return nil, nil
}

// Delivered reports that a file is delivered.
func (m *Member) Delivered(_ context.Context, file string, sha256 [32]byte) error {
	if m.Streams() {
		return nil
	}
	f := &protocol.DeliveredFrame{Epoch: m.epoch(), Attempt: m.cfg.Attempt, File: file, SHA256: sha256}
	if err := m.sendLogged(f); err != nil {
		return m.writeError("deliver "+file, err)
	}
	return nil
}

// Finish waits until all files of all ranks are delivered, and the server has recorded the end. In
// a job with vw workers it only leaves the server.
func (m *Member) Finish(ctx context.Context) error {
	if m.vwServer {
		return nil
	}
	m.sendLastLogs(ctx, lastLogs) // the server may end the connection as soon as all ranks have delivered
	if m.Streams() {
		if err := m.write(&protocol.LeaveFrame{Epoch: m.epoch(), Reason: "done"}); err != nil {
			return m.writeError("leave the job", err)
		}
	}
	return m.waitUnlessLeft(ctx, "end the job", func() bool { return m.gotFinished })
}

// Streams reports whether the data connections of the job carry vw's stream.
func (m *Member) Streams() bool {
	if m.vwServer {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wiring != nil && m.wiring.Stream
}

// writeError returns the error of a failed write. The server's last frame explains it better than
// the write's own error, and may still be on the way: it waits up to leaveTimeout for one.
func (m *Member) writeError(doing string, err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	if m.waitUnlessLeft(ctx, doing, func() bool { return m.gotFinished }) == ErrClosed {
		return ErrClosed
	}
	if cause := m.Cause(); cause != nil {
		return cause
	}
	m.mu.Lock()
	lost, since := m.serverErr, m.serverLostAt
	m.mu.Unlock()
	if lost != nil && !m.cfg.reconnects() {
		err = fmt.Errorf("it ended the connection %v ago (%w): it has ended or was restarted, and with allreduce.Config.OnLoss=abort a rank does not reconnect",
			time.Since(since).Round(100*time.Millisecond), lost)
	}
	return m.serverError(doing, err)
}
