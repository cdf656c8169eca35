// SPDX-License-Identifier: Apache-2.0

package client

import (
	"cmp"
	"context"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Wiring is what a rank needs to know of an epoch: its members, their addresses, and where it
// resumes.
type Wiring struct {
	Epoch protocol.Epoch
	// Stream reports that the data connections carry vw's stream, in vw's sequence of calls: the
	// job has a vw worker, or the server is vw's own.
	Stream bool
	// Token authenticates the data connections of this epoch. It is the same on all ranks; vw
	// workers have none.
	Token [16]byte
	// Members are the ranks that take part, in ascending order; nil with Stream and Ending.
	Members []int
	// Peers has the data addresses of the members. It is empty with Stream and Ending.
	Peers protocol.MemberList
	// Resume is the resume point. Its zero value is the beginning.
	Resume Point
	// Missing is the data that this rank needs before it can resume; nil: none. Owed is the data
	// that other ranks fetch from this one.
	Missing *Missing
	Owed    []Missing
	// Ending reports that there are no further collectives: this rank fetches its missing data and
	// completes the job.
	Ending bool
	// Parent is, with Stream, the address (host:port) to which this rank connects; "": it is the
	// root. Kids is the number of children that it then accepts.
	Parent string
	Kids   int
}

// Point is a number of completed steps, and the epoch in which the last of them was completed.
type Point struct {
	Epoch protocol.Epoch
	Step  uint64
}

// Missing is the data that a rank needs from another one.
type Missing struct {
	Rank, Source int
	Payload      protocol.Payload
	Address      string // of the source's data listener, host:port
}

// wiringOf converts EPOCH_START for a rank.
func wiringOf(f *protocol.EpochStartFrame, total, rank int) *Wiring {
	w := &Wiring{
		Epoch: f.Epoch, Token: f.Token, Members: f.Members.Ranks(total), Peers: f.Members,
		Resume: Point{f.ResumeEpoch, f.ResumeStep},
	}
	for _, l := range f.Missing {
		if l.Source < 0 || l.Source >= total || l.Rank != rank && l.Source != rank { // the decoder does not know the total
			continue
		}
		missing := Missing{Rank: l.Rank, Source: l.Source, Payload: l.Payload, Address: w.Address(l.Source)}
		if l.Rank == rank {
			w.Missing = &missing
		} else {
			w.Owed = append(w.Owed, missing)
		}
	}
	return w
}

// Address returns the data address (host:port) of a rank, "" if it is no member.
func (w *Wiring) Address(rank int) string {
	if m, ok := w.Peers.Of(rank); ok {
		return protocol.HostPort(m.Host, m.Port)
	}
	return ""
}

// Addresses returns the data addresses of the ranks below total, by rank.
func (w *Wiring) Addresses(total int) []string {
	addresses := make([]string, total)
	for m := range w.Peers.All() {
		if m.Rank < total {
			addresses[m.Rank] = protocol.HostPort(m.Host, m.Port)
		}
	}
	return addresses
}

// Seen returns the source address of a rank as the server sees it, without a port; "" if the rank is no member. It helps
// to explain why two ranks cannot connect.
func (w *Wiring) Seen(rank int) string {
	m, _ := w.Peers.Of(rank)
	return cmp.Or(m.Seen, m.Host)
}

// pullOf converts PULL for a rank.
func pullOf(f *protocol.PullFrame, rank int) *Wiring {
	return &Wiring{
		Epoch: f.Epoch, Token: f.Token, Resume: Point{f.ResumeEpoch, f.ResumeStep}, Ending: true,
		Missing: &Missing{Rank: rank, Source: f.Source, Payload: f.Payload, Address: protocol.HostPort(f.Host, f.Port)},
	}
}

// streamOf converts WIRE.
func streamOf(f *protocol.WireFrame) *Wiring {
	w := &Wiring{Epoch: f.Epoch, Token: f.Token, Stream: true, Kids: int(f.Kids)}
	if f.ParentHost != "" {
		w.Parent = protocol.HostPort(f.ParentHost, f.ParentPort)
	}
	return w
}

// Ready reports that the shard is read, and that the work before the first collective is done. It
// waits until the job is wired. Meanwhile the log has a line every 10 s. If ranks are missing for
// StartTimeout, it returns a *StartError that names them. Once all ranks have joined there is no
// limit, since some may have much data to read. A standby waits until it is needed, or until the
// job has ended with a *FinishedError.
func (m *Member) Ready(ctx context.Context, s protocol.Shard) (*Wiring, error) {
	if m.vwServer {
		return m.joinVW(ctx)
	}
	if m.cfg.OnLoss == protocol.Open { // until now ranks might be missing
		m.change(func() { m.missingSince = m.now() })
	}
	if err := m.sendLogged(&protocol.ReadyFrame{Shard: s, Checkpoint: m.checkpoint}); err != nil {
		return nil, m.writeError("wire the job", err)
	}
	return m.await(ctx, nil, "wire the job")
}

// Next waits for the epoch after the one of w.
func (m *Member) Next(ctx context.Context, w *Wiring) (*Wiring, error) {
	return m.await(ctx, w, "wire the job again")
}

// Newest returns the wiring of the newest epoch, which may have ended; nil: there is none yet.
func (m *Member) Newest() *Wiring {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wiring
}

// Ended returns a channel that is closed when the epoch of w has ended. EndOf returns the cause.
func (m *Member) Ended(w *Wiring) <-chan struct{} {
	if m.vwServer {
		return m.over // vw's own server does not report it
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wiring != w {
		return alreadyEnded
	}
	return m.ended
}

// alreadyEnded is the result of Ended for an epoch that is not the newest.
var alreadyEnded = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// EndOf returns why the epoch of w has ended, or nil while it runs: a *LostError, or the result of
// Cause.
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
		return &protocol.LostError{Job: m.cfg.Job, Rank: -1, Why: "another epoch has started"}
	}
	return m.epochCause
}

// await waits for a wiring newer than w whose epoch has not ended, unless the job has.
func (m *Member) await(ctx context.Context, w *Wiring, doing string) (*Wiring, error) {
	text := "waiting for the job to " + map[bool]string{true: "start", false: "go on"}[w == nil]
	var next *Wiring
	err := m.waitLogging(ctx, doing, w == nil, func() string { return text }, func() bool {
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

// Assigned waits until this spare has a rank, and returns it. A *FinishedError reports that the job
// has ended without it.
func (m *Member) Assigned(ctx context.Context) (rank int, err error) {
	rank = -1
	err = m.waitLogging(ctx, "get a rank", true, func() string {
		if _, limited := m.startLeft(); limited {
			return "a spare waits for the job to start"
		}
		return "" // a spare may wait for hours: no line every 10 s
	}, func() bool {
		rank = m.cfg.Rank
		return rank >= 0 || m.gotFinished
	})
	if err == nil && rank < 0 {
		err = m.finishedError()
	}
	return rank, err
}

// Members waits until the members of the job are known, and returns them in ascending order: all
// ranks, unless the job is elastic. A rank must know them before it reads its part of a shared
// input. A *FinishedError reports that the job has ended, and that this rank was excluded.
func (m *Member) Members(ctx context.Context) (live []int, err error) {
	if m.vwServer || m.cfg.Elastic == 0 {
		return protocol.Members{}.Included(m.cfg.Total), nil
	}
	err = m.waitLogging(ctx, "wait for the members of the job", true, func() string { return "waiting for the ranks of the job" }, func() bool {
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

// Excluded reports whether the job has started without this rank.
func (m *Member) Excluded() bool {
	if m.vwServer {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.members.Decided && m.cfg.Rank >= 0 && !protocol.IsMember(m.members.Included(m.cfg.Total), m.cfg.Rank)
}

// Checkpoint sets the step of the checkpoint that this rank can read, if it was not known at Join.
// It must be called before Ready.
func (m *Member) Checkpoint(step uint64) { m.checkpoint = step }

// waitLogging waits until ready returns true. Every logInterval it logs the result of text, unless
// that is "". With starts it fails when ranks have been missing for StartTimeout.
func (m *Member) waitLogging(ctx context.Context, doing string, starts bool, text func() string, ready func() bool) error {
	start, logged := time.Now(), time.Now()
	for {
		limit := logInterval - time.Since(logged)
		left, limited := m.startLeft()
		if limited && starts {
			limit = min(limit, left)
		}
		slice, cancel := context.WithTimeout(ctx, limit)
		err := m.waitUnlessLeft(slice, doing, ready)
		expired := err != nil && err == context.Cause(slice) && ctx.Err() == nil // only the slice has ended
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
			if line := text(); line != "" {
				m.cfg.Log.Info(line, "job", m.cfg.Job.String(), "rank", m.rank(),
					"since", time.Since(start).Round(time.Second), "report", m.report())
			}
		}
	}
}

// rank returns the rank of this attempt; -1: a spare without a rank.
func (m *Member) rank() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cfg.Rank
}

// startLeft returns how long missing ranks may still take to join. limited is false if none are
// missing.
func (m *Member) startLeft() (left time.Duration, limited bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	away := m.cfg.Elastic > 0 && m.conn == nil // the missing ranks are unknown
	return m.startLimit() - m.now().Sub(m.missingSince), !m.waiting.Complete() && !away
}

// decisionTime is the least time that the server of an elastic job has to start it without missing ranks. The server's clock
// stands still while the server gets no processor.
const decisionTime = 30 * time.Second

// startLimit returns how long ranks may be missing. In an elastic job that is twice as long, since the server starts it
// without them after the first half.
func (m *Member) startLimit() time.Duration {
	if m.cfg.Elastic > 0 {
		limit := max(m.cfg.StartTimeout, m.cfg.Elastic)
		return limit + max(limit, decisionTime)
	}
	return m.cfg.StartTimeout
}

// report returns the newest report of the server on a waiting job.
func (m *Member) report() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting.Report
}
