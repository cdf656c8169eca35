// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"log/slog"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// logGather is the time for which a rank gathers lines before it sends them: lines that are written together go together.
const logGather = 20 * time.Millisecond

// lastLogs limits the time for which a rank sends lines before it gives up or leaves.
const lastLogs = 2 * time.Second

// sendLogs sends the lines of the log until stop. Nothing waits for it but Close.
func (m *Member) sendLogs() {
	m.cfg.Logs.SetRanks(m.cfg.Total)
	t := time.NewTimer(0)
	defer t.Stop()
	for set := true; ; {
		select {
		case <-m.cfg.Logs.Wake():
			if !set {
				t.Reset(logGather)
				set = true
			}
			continue
		case <-t.C:
		case <-m.stop:
			return
		}
		wait := m.writeLogs(context.Background(), false)
		if set = wait > 0; set {
			t.Reset(wait)
		}
	}
}

// writeLogs sends the lines that may be sent now; urgent: all. It begins no frame after the end of ctx. It returns the time
// after which to try again; 0: when there are lines.
func (m *Member) writeLogs(ctx context.Context, urgent bool) time.Duration {
	for {
		m.mu.Lock()
		quiet, rank := m.idle(), m.cfg.Rank
		m.mu.Unlock()
		if quiet || rank < 0 || ctx.Err() != nil { // without a connection, or a spare without a rank
			return m.cfg.Heartbeat
		}
		b, wait := m.cfg.Logs.Take(time.Now(), urgent)
		if wait > 0 || len(b.Lines) == 0 {
			return wait
		}
		if m.write(&protocol.LogFrame{Batch: b}) != nil {
			m.cfg.Logs.PutBack(b)
			return m.cfg.Heartbeat
		}
	}
}

// giveReason adds the reason why this rank ends to the lines, and sends all of them as sendLastLogs does.
func (m *Member) giveReason(ctx context.Context, limit time.Duration, text, reason string) {
	m.cfg.Logs.Record(slog.LevelError, text, slog.Int("rank", m.rank()), slog.String("error", reason))
	m.sendLastLogs(ctx, limit)
}

// sendLastLogs sends all lines that wait, before the last frame of this rank. It takes at most this time, and ends with ctx.
func (m *Member) sendLastLogs(ctx context.Context, limit time.Duration) {
	if m.cfg.Logs == nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	end := time.NewTimer(limit)
	defer end.Stop()
	done := make(chan struct{})
	m.work.Go(func() {
		m.writeLogs(ctx, true)
		close(done)
	})
	select {
	case <-done:
	case <-end.C: // the frame that follows waits for a write that has begun
	case <-ctx.Done():
	}
}
