// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"cmp"
	"context"
	"time"
)

// Wiring is a rank's place in an epoch.
type Wiring struct {
	Epoch Epoch
	// Stream tells that vw's raw stream is spoken, in vw's sequence of
	// calls: a vw worker is in the job, or the server is vw's own.
	Stream bool
	// Token authenticates this epoch's data connections. All ranks hold the
	// same one; vw workers know none.
	Token [16]byte
	// Peers are the data addresses (host:port) of all ranks; nil with Stream.
	Peers []string
	// Seen are the addresses, without ports, from which the server sees the ranks;
	// nil with Stream. Where ranks do not meet, they tell why.
	Seen []string
	// Parent, with Stream, is whom this rank connects to, host:port; "": it
	// is the root. Kids are the children it then accepts.
	Parent string
	Kids   int
}

func (f *startFrame) wiring(total int) *Wiring {
	w := &Wiring{Epoch: f.Epoch, Token: f.Token, Peers: make([]string, total), Seen: make([]string, total)}
	for _, p := range f.Members {
		if p.Rank >= 0 && p.Rank < total {
			w.Peers[p.Rank], w.Seen[p.Rank] = hostPort(p.Host, p.Port), cmp.Or(p.Seen, p.Host)
		}
	}
	return w
}

func (f *wireFrame) wiring() *Wiring {
	w := &Wiring{Epoch: f.Epoch, Token: f.Token, Stream: true, Kids: int(f.Kids)}
	if f.ParentHost != "" {
		w.Parent = hostPort(f.ParentHost, f.ParentPort)
	}
	return w
}

// Ready says that the shard is read and the work before the first collective
// done. It returns when the job is wired. While it waits, the log tells every
// 10 s what it waits for; if not all ranks have joined within StartTimeout, it
// fails with a *StartError that names the missing. Once all have joined there
// is no limit: some may have much to read.
func (m *Member) Ready(ctx context.Context, s Shard) (*Wiring, error) {
	if m.foreign {
		return m.joinVW(ctx)
	}
	if err := m.write(&readyFrame{Shard: s}); err != nil {
		return nil, m.failed("wire the job", err)
	}
	start, logged := time.Now(), time.Now()
	for {
		limit := reportEvery - time.Since(logged)
		if left, limited := m.startLeft(); limited {
			limit = min(limit, left)
		}
		slice, cancel := context.WithTimeout(ctx, limit)
		err := m.wait(slice, "wire the job", func() bool { return m.wiring != nil })
		expired := err != nil && err == context.Cause(slice) && ctx.Err() == nil
		cancel()
		switch left, limited := m.startLeft(); {
		case err == nil:
			w := *m.wiring // set once
			return &w, nil
		case !expired:
			return nil, err
		case limited && left <= 0:
			return nil, &StartError{Job: m.cfg.Job, After: m.cfg.StartTimeout, Report: m.report()}
		}
		if time.Since(logged) >= reportEvery {
			logged = time.Now()
			m.cfg.Log.Info("waiting for the job to start", "job", m.cfg.Job.String(), "rank", m.cfg.Rank,
				"since", time.Since(start).Round(time.Second), "server says", m.report())
		}
	}
}

// startLeft is how long missing ranks may still take to join; limited is
// false if none are missing.
func (m *Member) startLeft() (left time.Duration, limited bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cfg.StartTimeout - time.Since(m.short), !m.waiting.complete()
}

func (m *Member) report() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting.Report
}
