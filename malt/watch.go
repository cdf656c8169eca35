// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/clock"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/malt/internal/carrier"
	"github.com/gvw-project/gvw/malt/internal/monitor"
)

const (
	// askEvery is the interval at which a rank reports a broken connection, until the server has ended the epoch. The
	// server decides later than 1 s after the newest report.
	askEvery = 5 * time.Second
	// probesPerStall is the number of probes on a silent connection before it counts as broken.
	probesPerStall = 8
)

// untilEnded watches the connections of c until the server ends the epoch of w. It reports broken ones to the server,
// which decides whose loss they are. c is nil if the epoch has no traffic.
func (g *Group) untilEnded(w *client.Wiring, c *carrier.Carrier, failed endings) {
	ctx, cancel := context.WithCancel(g.ctx)
	var asks sync.WaitGroup // an answer may take 1 s, and the next membership does not wait for it
	defer asks.Wait()
	defer cancel()
	tick := min(time.Second, g.cfg.Stall/probesPerStall)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	m := monitor.New(monitor.Config{Silence: g.cfg.Stall, Again: askEvery})
	running := clock.Clock{Tick: tick} // a pause of this process is no silence of others
	for {
		select {
		case <-g.member.Ended(w):
			return
		case <-g.ctx.Done():
			return
		case err := <-failed.fatal:
			g.failJob(err)
			return
		case f := <-failed.broken:
			m.Failed(f.rank, f.err)
		case <-ticker.C:
		}
		now, _ := running.Read(time.Now())
		if c != nil {
			c.Probe(func(rank int, read int64, stopped bool) { m.Observe(rank, read, stopped, now) })
		}
		if r, due := m.Report(now); due {
			g.cfg.Log.Log(ctx, g.failureLevel(), "connection failed: asking the server about it", "rank", g.cfg.Rank, "peer", r.Rank, "err", r.Err)
			asks.Go(func() { g.member.AskAbout(ctx, w, r.Rank, protocol.EdgeBroke, r.Err.Error()) })
		}
	}
}

// failureLevel returns the level of messages about connections that end. When all ranks are done they end one by one.
func (g *Group) failureLevel() slog.Level {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}
