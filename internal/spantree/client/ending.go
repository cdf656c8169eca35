// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Complete says that this rank has completed the last step, with a model of
// this SHA-256, and owes these files. It waits until all ranks have, with the
// same digest, and returns what this rank must deliver. In a job with vw
// workers, who know no such end, it is what the rank owes, at once.
func (m *Member) Complete(ctx context.Context, sha256 [32]byte, owes []string) (deliver []string, err error) {
	if m.Streams() {
		return owes, nil
	}
	if err := m.sendLogged(&protocol.CompleteFrame{Epoch: m.epoch(), Step: m.cfg.Steps.Position().Completed.Step, Model: sha256, Owed: owes}); err != nil {
		return nil, m.writeError("complete the job", err)
	}
	over := false // another attempt of the rank has done what this one would
	err = m.wait(ctx, "complete the job", func() bool {
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

// Done says that a file is delivered.
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

// Bye waits until the server has noted that all files of all ranks are
// delivered. In a job with vw workers it takes leave of the server alone.
func (m *Member) Finish(ctx context.Context) error {
	if m.vwServer {
		return nil
	}
	if m.Streams() {
		if err := m.write(&protocol.LeaveFrame{Epoch: m.epoch(), Reason: "done"}); err != nil {
			return m.writeError("leave the job", err)
		}
	}
	return m.wait(ctx, "end the job", func() bool { return m.gotFinished })
}

// Streams tells that the job is vw's.
func (m *Member) Streams() bool {
	if m.vwServer {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wiring != nil && m.wiring.Stream
}

// failed is the reason why a write has failed. What the server has said last
// explains more than a broken pipe; it may still be under way.
func (m *Member) writeError(doing string, err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	_ = m.wait(ctx, doing, func() bool { return m.gotFinished })
	if cause := m.Cause(); cause != nil {
		return cause
	}
	return m.serverError(doing, err)
}
