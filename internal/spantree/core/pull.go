// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/resume"
)

// Losses at the end of a job that recovers. While a live rank is COMPLETE no epoch is formed. That
// rank has all data, so ranks that are behind and replacements of lost ranks fetch their missing
// data from it.
//
// Package resume decides the source of each rank's missing data. If a rank reports a transfer without progress, it is cut off from that source, and gets another one. A
// rank that is cut off from all sources is evicted. The second such attempt of a rank on the same
// host ends the job.

// onCompleteRecovering processes COMPLETE in a job that recovers. It may cross EPOCH_END and
// EPOCH_START, and is valid nevertheless.
func (m *Machine) onCompleteRecovering(a *attempt, f *protocol.CompleteFrame) {
	j := a.job
	if !a.isHolder || a.wired == (protocol.Epoch{}) || a.complete || j.phase == filling {
		m.log(slog.LevelWarn, "COMPLETE ignored: not expected now", append(a.attrs(), slog.String("epoch", f.Epoch.String()))...)
		return
	}
	if f.Epoch.Compare(j.losses.shrunk) < 0 {
		m.log(slog.LevelInfo, "COMPLETE ignored: sent in an epoch of more ranks", a.attrs()...)
		return
	}
	if a.endSent && !a.answered {
		j.lastEnd.unanswered--
	}
	// COMPLETE has the step without its epoch. The cases restore the epoch in which the step was
	// completed, so that the positions of sources compare as equal.
	switch f.Step {
	case a.position.Step:
	case j.wiring.resumeAt.Step: // completed in an earlier epoch, or fetched
		a.position = j.wiring.resumeAt
	case a.pullPoint.Step:
		a.position = a.pullPoint
	default:
		a.position = resume.Point{Epoch: f.Epoch, Step: f.Step}
	}
	a.complete, a.answered, a.pullsFrom, a.model = true, true, nil, f.Model
	a.owed = nil
	for _, file := range slices.Concat(f.Owed, j.finish.owedByLost[a.rank]) {
		if !j.delivered(a.rank, file) && !slices.Contains(a.owed, file) && len(a.owed) < protocol.MaxFiles {
			a.owed = append(a.owed, file)
		}
	}
	delete(j.finish.owedByLost, a.rank)
	j.finish.completed++
	j.finish.owed += len(a.owed)
	delete(j.losses.vacant, a.rank)
	j.changes++
	if j.phase != ending {
		m.enter(j, ending)
		for _, b := range j.members() {
			m.pull(b)
		}
	}
	m.advanceEnding(j)
}

// delivered reports whether an attempt of the rank has delivered the file.
func (j *job) delivered(rank int, file string) bool {
	return slices.ContainsFunc(j.finish.files, func(d protocol.DeliveredFile) bool { return d.Rank == rank && d.File == file })
}

// pull sends PULL to a rank that is behind or new, with a COMPLETE rank as the source.
func (m *Machine) pull(a *attempt) {
	j := a.job
	if m.inGracePeriod(j) || j.phase != ending || !j.recovers() || !a.isHolder || !a.ready || a.complete || a.pullsFrom != nil {
		return
	}
	if a.wired != (protocol.Epoch{}) && !a.answered {
		return // it may be COMPLETE, or will send its position
	}
	s := j.pullSource(a, nil)
	if s == nil {
		return
	}
	if a.wired != (protocol.Epoch{}) && a.position.Step >= s.position.Step {
		return // it has completed the last step, and will send COMPLETE
	}
	m.sendPull(a, s)
}

// sendPull sends PULL to a, with s as the source.
func (m *Machine) sendPull(a, s *attempt) {
	j := a.job
	f := &protocol.PullFrame{
		Epoch: j.epoch, Token: j.wiring.token, ResumeEpoch: s.position.Epoch, ResumeStep: s.position.Step, Payload: resume.Payload(a.resumeMember(), s.resumeMember(), s.position), Source: s.rank,
		Port: s.port, Host: j.addressOf(s, j.wiring.gateway),
	}
	if f.Payload == protocol.PayloadState {
		a.fetchedState = s.position
	}
	if a.wired != j.epoch { // it becomes a member
		a.wired = j.epoch
		assign(&j.wiring.shards, a.rank, a.shard)
	}
	a.pullsFrom, a.pullPoint = s, s.position
	m.log(slog.LevelInfo, "rank sent to a source of its missing data", append(a.attrs(), slog.Int("source", s.rank), slog.String("payload", f.Payload.String()))...)
	m.send(a, f)
}

// pullSource returns the attempt from which taker fetches its missing data: the lowest COMPLETE
// rank that has the results, else the lowest COMPLETE rank. It prefers sources other than not, and
// omits those from which taker is cut off.
func (j *job) pullSource(taker, not *attempt) *attempt {
	if s := j.finish.source; s != nil && s != not && s.complete && s.isHolder && !taker.cut(s) {
		return s
	}
	var sources []resume.Member
	for _, a := range j.members() {
		if a.complete && a != not {
			sources = append(sources, a.resumeMember())
		}
	}
	var best *attempt
	if s, ok := resume.Source(taker.rank, sources, j.path); ok {
		best = j.holders[s.Rank]
	}
	if best == nil && not != nil && not.complete && not.isHolder {
		best = not // there is no other source; a second attempt may succeed
	}
	j.finish.source = best
	return best
}

// cut reports whether the attempt has reported that it gets nothing from the source.
func (a *attempt) cut(source *attempt) bool { return slices.Contains(a.cutOff, source) }

// stranded returns a holder that is cut off from all sources of its missing data; nil if there is
// none.
func (j *job) stranded() *attempt {
	all := j.members()
	if !slices.ContainsFunc(all, func(a *attempt) bool { return len(a.cutOff) > 0 }) {
		return nil
	}
	_, missing := resume.Find(j.resumeMembers(), j.path)
	for _, l := range missing {
		if a := j.holders[l.Rank]; a.cut(j.holders[l.Source]) {
			return a
		}
	}
	return nil
}

// evictStranded evicts an attempt that is cut off from all sources.
func (m *Machine) evictStranded(a *attempt) {
	j := a.job
	var names []string
	for _, s := range a.cutOff[:min(len(a.cutOff), maxNamed)] {
		names = append(names, fmt.Sprintf("rank %d (%s)", s.rank, s.host))
	}
	why := fmt.Sprintf("it gets no missing data from any source (%s): check the network between them", strings.Join(names, ", "))
	if j.evictions.stranded[a.rank] == a.from.Host {
		c := lossOf(a, events.FaultDropped, why+"; an earlier attempt of the rank on this host had the same fault")
		m.fail(j, c)
		return
	}
	assign(&j.evictions.stranded, a.rank, a.from.Host)
	m.evict(a, why)
}

// clearCutOffs forgets the reported transfers: since then, ranks have completed a step.
func (j *job) clearCutOffs() {
	j.evictions.stranded = nil
	for _, a := range j.attempts() {
		a.cutOff = nil
	}
}

// pullFromAnother sends PULL with another source to a rank that gets no data. Without another
// source it repeats the old one, if that may still succeed.
func (m *Machine) pullFromAnother(a *attempt, f *protocol.AskFrame) {
	j := a.job
	if f.Peer != a.pullsFrom.rank {
		return // about an earlier source
	}
	if f.Fault != protocol.EdgeNoTransfer {
		if s := j.pullSource(a, a.pullsFrom); s != nil {
			m.sendPull(a, s)
		}
		return
	}
	m.log(slog.LevelWarn, "edge charged", slog.String("job", j.id.String()), slog.String("why", linkCause(a, a.pullsFrom, f.Fault, f.Detail).Why))
	if !a.cut(a.pullsFrom) {
		a.cutOff = append(a.cutOff, a.pullsFrom)
	}
	if s := j.pullSource(a, a.pullsFrom); s != nil && !a.cut(s) {
		m.sendPull(a, s)
		return
	}
	m.evictStranded(a)
}

// afterLoss continues after the loss of an attempt. Ranks that fetched data from it get another
// source. If no COMPLETE rank is left the job runs again.
func (m *Machine) afterLoss(j *job, lost *attempt) {
	if j.phase == ending {
		if j.finish.source == lost {
			j.finish.source = nil
		}
		if j.finish.completed == 0 && j.finish.receipt == 0 && !j.allDelivered() {
			m.reopen(j)
		} else {
			for _, a := range j.members() {
				if lost != nil && a.pullsFrom == lost {
					a.pullsFrom = nil
				}
				m.repull(a)
			}
		}
	}
	m.advance(j)
}

// allDelivered reports whether all ranks were COMPLETE and all files are delivered, so that only
// the record is missing.
func (j *job) allDelivered() bool {
	return j.finish.deliverSent && j.finish.owed == 0 && len(j.losses.vacant) == 0
}

// repull gives a new source to a member that fetched data from a lost rank.
func (m *Machine) repull(a *attempt) {
	if a.pullsFrom != nil || a.complete || m.inGracePeriod(a.job) {
		return
	}
	if a.wired == a.job.epoch && a.fetchedState != (resume.Point{}) && !a.endSent {
		// A replacement: it was never asked for its position.
		if s := a.job.pullSource(a, nil); s != nil && a.ready {
			m.sendPull(a, s)
		}
		return
	}
	m.pull(a)
}

// reopen returns an ending job to the phase wired, because all COMPLETE ranks were lost before
// another one had the results. All COMPLETE and DELIVERED are void.
func (m *Machine) reopen(j *job) {
	m.log(slog.LevelWarn, "all COMPLETE ranks lost: job running again", slog.String("job", j.id.String()))
	m.enter(j, wired)
	c := protocol.Cause{Kind: protocol.CauseLost, Rank: -1, Why: "all COMPLETE ranks were lost"}
	for r := range j.total {
		if j.holders[r] != nil || j.removed[r] {
			continue
		}
		v, ok := j.losses.vacant[r]
		if !ok {
			g := j.departed[r]
			v.cause = protocol.Cause{Kind: protocol.CauseLost, Fault: g.fault, Rank: r, Host: g.host, Why: g.why}
			j.markVacant(r, m.Now, v.cause)
		}
		if c.Rank < 0 {
			c = v.cause
		}
	}
	for _, a := range j.attempts() {
		a.pullsFrom = nil
		// A newer generation that waited while the older one delivered is needed now.
		j.generation = max(j.generation, a.generation)
	}
	m.endEpoch(j, c)
	for _, r := range sortedRanks(j.losses.vacant) {
		m.promote(j, r)
	}
}
