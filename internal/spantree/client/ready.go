// SPDX-License-Identifier: Apache-2.0

package client

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Wiring is a rank's place in an epoch.
type Wiring struct {
	Epoch protocol.Epoch
	// Stream tells that vw's raw stream is spoken, in vw's sequence of
	// calls: a vw worker is in the job, or the server is vw's own.
	Stream bool
	// Token authenticates this epoch's data connections. All ranks hold the
	// same one; vw workers know none.
	Token [16]byte
	// Live are the ranks that take part, in order: all, but for those that the job goes on
	// without. nil with Stream and Ending.
	Members []int
	// Peers are the data addresses (host:port) by rank, "" of those that take no part; nil
	// with Stream.
	Peers []string
	// Seen are the addresses, without ports, from which the server sees the ranks;
	// nil with Stream. Where ranks do not meet, they tell why.
	Seen []string
	// Resume is where the job goes on: the newest step that any rank has completed.
	// Its zero value is the beginning.
	Resume Point
	// Lack is what this rank lacks of it, nil: nothing. Debts are what others get
	// from this rank.
	Missing *Missing
	Owed    []Missing
	// Ending tells that the job has no further collectives: this rank takes what it
	// lacks, and completes the job. There are no Peers then.
	Ending bool
	// Parent, with Stream, is whom this rank connects to, host:port; "": it
	// is the root. Kids are the children it then accepts.
	Parent string
	Kids   int
}

// Point is a place in a job: a number of completed steps, and the epoch in which the
// last of them was.
type Point struct {
	Epoch protocol.Epoch
	Step  uint64
}

// Lack says that a rank lacks something which another one has.
type Missing struct {
	Rank, Source int
	Payload      protocol.Payload
	Address      string // of the source's data listener, host:port
}

// wiringOf returns what EPOCH_START says to a rank.
func wiringOf(f *protocol.EpochStartFrame, total, rank int) *Wiring {
	w := &Wiring{
		Epoch: f.Epoch, Token: f.Token, Peers: make([]string, total), Seen: make([]string, total),
		Resume: Point{f.ResumeEpoch, f.ResumeStep},
	}
	for _, p := range f.Members {
		if p.Rank >= 0 && p.Rank < total {
			w.Members = append(w.Members, p.Rank)
			w.Peers[p.Rank], w.Seen[p.Rank] = protocol.HostPort(p.Host, p.Port), cmp.Or(p.Seen, p.Host)
		}
	}
	slices.Sort(w.Members)
	w.Members = slices.Compact(w.Members)
	for _, l := range f.Missing {
		if l.Source < 0 || l.Source >= total {
			continue
		}
		lack := Missing{Rank: l.Rank, Source: l.Source, Payload: l.Payload, Address: w.Peers[l.Source]}
		switch {
		case l.Rank == rank:
			w.Missing = &lack
		case l.Source == rank:
			w.Owed = append(w.Owed, lack)
		}
	}
	return w
}

// pullOf returns what PULL says to a rank.
func pullOf(f *protocol.PullFrame, rank int) *Wiring {
	return &Wiring{
		Epoch: f.Epoch, Token: f.Token, Resume: Point{f.ResumeEpoch, f.ResumeStep}, Ending: true,
		Missing: &Missing{Rank: rank, Source: f.Source, Payload: f.Payload, Address: protocol.HostPort(f.Host, f.Port)},
	}
}

// streamOf returns what WIRE says to a rank of a job with vw workers.
func streamOf(f *protocol.WireFrame) *Wiring {
	w := &Wiring{Epoch: f.Epoch, Token: f.Token, Stream: true, Kids: int(f.Kids)}
	if f.ParentHost != "" {
		w.Parent = protocol.HostPort(f.ParentHost, f.ParentPort)
	}
	return w
}

// Ready says that the shard is read and the work before the first collective
// done. It returns when the job is wired. While it waits, the log tells every
// 10 s what it waits for; if not all ranks have joined within StartTimeout, it
// fails with a *StartError that names the missing. Once all have joined there
// is no limit: some may have much to read. An attempt that stands by waits until it
// is needed; a *FinishedError says that it was not.
func (m *Member) Ready(ctx context.Context, s protocol.Shard) (*Wiring, error) {
	if m.vwServer {
		return m.joinVW(ctx)
	}
	if err := m.sendLogged(&protocol.ReadyFrame{Shard: s, Checkpoint: m.checkpoint}); err != nil {
		return nil, m.writeError("wire the job", err)
	}
	return m.await(ctx, nil, "wire the job")
}

// Next waits for the epoch that follows the one of w, when that is over.
func (m *Member) Next(ctx context.Context, w *Wiring) (*Wiring, error) {
	return m.await(ctx, w, "wire the job again")
}

// Newest is the newest wiring, over or not; nil: none yet.
func (m *Member) Newest() *Wiring {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wiring
}

// Ended is closed when the epoch of w is over, nil and Next before that. EndOf
// says why it is over: a *LostError, or what Cause says.
func (m *Member) Ended(w *Wiring) <-chan struct{} {
	if m.vwServer {
		return m.over // vw's own server never says so
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wiring != w {
		return alreadyEnded
	}
	return m.ended
}

var alreadyEnded = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// EndOf is why the epoch of w is over, nil while it is not.
func (m *Member) EndOf(w *Wiring) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.cause != nil:
		return m.cause
	case m.gotFinished:
		return m.finishedError()
	case m.previous == w && w != nil:
		return m.previousCause
	case m.wiring != w:
		return &protocol.LostError{Job: m.cfg.Job, Rank: -1, Why: "another epoch has begun"}
	}
	return m.epochCause
}

// await waits for a wiring after w that is not over already, but with the job.
func (m *Member) await(ctx context.Context, w *Wiring, doing string) (*Wiring, error) {
	says := "waiting for the job to " + map[bool]string{true: "start", false: "go on"}[w == nil]
	var next *Wiring
	err := m.waitLogging(ctx, doing, w == nil, func() string { return says }, func() bool {
		if m.wiring != nil && m.wiring != w && (m.epochCause == nil || m.cause != nil) {
			next = m.wiring
		}
		return next != nil || m.gotFinished
	})
	switch {
	case err != nil:
		return nil, err
	case next == nil:
		return nil, m.finishedError()
	}
	return next, nil
}

// Assigned waits until this spare is given a rank, and returns it. A *FinishedError says
// that the job has ended, and had no use for it.
func (m *Member) Assigned(ctx context.Context) (rank int, err error) {
	rank = -1
	err = m.waitLogging(ctx, "get a rank", true, func() string {
		if _, limited := m.startLeft(); limited {
			return "a spare waits for the job to start"
		}
		return "" // it may be hours
	}, func() bool {
		rank = m.cfg.Rank
		return rank >= 0 || m.gotFinished
	})
	if err == nil && rank < 0 {
		err = m.finishedError()
	}
	return rank, err
}

// Roster waits until it is known who takes part in the job, and returns these ranks, in order:
// all, unless Elastic lets it start without some. Before a rank has its part of an input that
// all share it must know. A *FinishedError says that the job has ended, and that this rank
// took no part.
func (m *Member) Members(ctx context.Context) (live []int, err error) {
	if m.vwServer || m.cfg.Elastic == 0 {
		return protocol.Members{}.Included(m.cfg.Total), nil
	}
	err = m.waitLogging(ctx, "learn who takes part", true, func() string { return "waiting for the ranks of the job" }, func() bool {
		return m.members.Decided || m.gotFinished
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case !m.members.Decided:
		return nil, m.finishedError()
	}
	return m.members.Included(m.cfg.Total), nil
}

// Late says that the job has been started without this rank.
func (m *Member) Excluded() bool {
	if m.vwServer {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.members.Decided && m.cfg.Rank >= 0 && !protocol.IsMember(m.members.Included(m.cfg.Total), m.cfg.Rank)
}

// Checkpoint says, before Ready, which step's checkpoint this rank can read, where that
// was not known when it joined.
func (m *Member) Checkpoint(step uint64) { m.checkpoint = step }

// linger waits until ready says so. What says returns goes to the log every 10 s, "" does
// not. starts: it fails if ranks are missing for StartTimeout.
func (m *Member) waitLogging(ctx context.Context, doing string, starts bool, says func() string, ready func() bool) error {
	start, logged := time.Now(), time.Now()
	for {
		limit := logInterval - time.Since(logged)
		left, limited := m.startLeft()
		if limited && starts {
			limit = min(limit, left)
		}
		slice, cancel := context.WithTimeout(ctx, limit)
		err := m.wait(slice, doing, ready)
		expired := err != nil && err == context.Cause(slice) && ctx.Err() == nil
		cancel()
		switch left, limited := m.startLeft(); {
		case err == nil:
			return nil
		case !expired:
			return err
		case limited && left <= 0 && starts:
			return &protocol.StartError{Job: m.cfg.Job, After: m.startLimit(), Report: m.report()}
		}
		if time.Since(logged) >= logInterval {
			logged = time.Now()
			if text := says(); text != "" {
				m.cfg.Log.Info(text, "job", m.cfg.Job.String(), "rank", m.rank(),
					"since", time.Since(start).Round(time.Second), "server says", m.report())
			}
		}
	}
}

// rank is that of this attempt; -1: a spare that has none yet.
func (m *Member) rank() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cfg.Rank
}

// startLeft is how long missing ranks may still take to join; limited is
// false if none are missing.
func (m *Member) startLeft() (left time.Duration, limited bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	away := m.cfg.Elastic > 0 && m.conn == nil // who has come is not known then
	return m.startLimit() - m.now().Sub(m.missingSince), !m.waiting.Complete() && !away
}

// startLimit is how long ranks may be missing. Where the server starts the job without
// them, it has the time to do so.
func (m *Member) startLimit() time.Duration {
	if m.cfg.Elastic > 0 {
		return 2 * max(m.cfg.StartTimeout, m.cfg.Elastic)
	}
	return m.cfg.StartTimeout
}

func (m *Member) report() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting.Report
}
