// SPDX-License-Identifier: Apache-2.0

package core

import (
	"log/slog"
	"slices"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Losses in the ending of a job that recovers. While a live rank is COMPLETE no
// epoch is formed: that rank has all there is to have, so whoever is behind, and
// whoever replaces a lost rank, pulls from it.

// onCompleteOne takes COMPLETE in a job that recovers. It may cross an EPOCH_END,
// and even the EPOCH_START after it: it is true all the same.
func (m *Machine) onCompleteRecovering(a *attempt, f *protocol.CompleteFrame) {
	j := a.job
	if !a.isHolder || a.wired == (protocol.Epoch{}) || a.complete || j.phase == filling {
		m.log(slog.LevelWarn, "COMPLETE at the wrong time", append(a.attrs(), slog.String("epoch", f.Epoch.String()))...)
		return
	}
	if f.Epoch.Compare(j.losses.shrunk) < 0 {
		m.log(slog.LevelInfo, "COMPLETE of an epoch of more ranks: it has to come again", a.attrs()...)
		return
	}
	if a.endSent && !a.answered {
		j.lastEnd.unanswered--
	}
	switch f.Step {
	case a.position.step:
	case j.wiring.resumeAt.step: // completed before this epoch, or taken from another
		a.position = j.wiring.resumeAt
	case a.pullPoint.step:
		a.position = a.pullPoint
	default:
		a.position = point{f.Epoch, f.Step}
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

// delivered tells that an earlier attempt of the rank has delivered the file.
func (j *job) delivered(rank int, file string) bool {
	return slices.ContainsFunc(j.finish.files, func(d protocol.DeliveredFile) bool { return d.Rank == rank && d.File == file })
}

// pull sends a rank that is behind, or new, to one that is COMPLETE.
func (m *Machine) pull(a *attempt) {
	j := a.job
	if m.inGracePeriod(j) || j.phase != ending || !j.recovers() || !a.isHolder || !a.ready || a.complete || a.pullsFrom != nil {
		return
	}
	if a.wired != (protocol.Epoch{}) && !a.answered {
		return // it may be through as well, or will say how far it is
	}
	s := j.pullSource(a, nil)
	if s == nil {
		return
	}
	if a.wired != (protocol.Epoch{}) && a.position.step >= s.position.step {
		return // it is through, too, and says so soon
	}
	m.sendPull(a, s)
}

func (m *Machine) sendPull(a, s *attempt) {
	j := a.job
	f := &protocol.PullFrame{
		Epoch: j.epoch, Token: j.wiring.token, ResumeEpoch: s.position.epoch, ResumeStep: s.position.step, Payload: j.payloadFor(a, s, s.position), Source: s.rank,
		Port: s.port, Host: j.addressOf(s, j.wiring.gateway),
	}
	if f.Payload == protocol.PayloadState {
		a.fetchedState = s.position
	}
	if a.wired != j.epoch { // from now on it is a member
		a.wired = j.epoch
		assign(&j.wiring.shards, a.rank, a.shard)
	}
	a.pullsFrom, a.pullPoint = s, s.position
	m.log(slog.LevelInfo, "rank is sent to another for what it lacks", append(a.attrs(), slog.Int("source", s.rank), slog.String("payload", f.Payload.String()))...)
	m.send(a, f)
}

// pullSource is whom an attempt pulls from: the lowest rank that is COMPLETE and
// has the results, else the lowest that is COMPLETE. not is left out, if there
// is another one, and so are ranks that the attempt is cut off from.
func (j *job) pullSource(taker, not *attempt) *attempt {
	if s := j.finish.source; s != nil && s != not && s.complete && s.isHolder && !taker.cut(s) {
		return s
	}
	var best *attempt
	for _, a := range j.members() {
		if a.complete && a != not && !taker.cut(a) && (best == nil || j.better(taker, a, best)) {
			best = a
		}
	}
	if best == nil && not != nil && not.complete && not.isHolder {
		best = not
	}
	j.finish.source = best
	return best
}

// lostSource goes on after a loss: those that pulled from the lost rank
// pull from another. If nobody who is COMPLETE is left the job runs again.
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

// finishing tells that the job lacks nothing but its record: everybody was
// COMPLETE, and every file is delivered.
func (j *job) allDelivered() bool {
	return j.finish.deliverSent && j.finish.owed == 0 && len(j.losses.vacant) == 0
}

// repull sends a member that pulled from a rank that is lost to another.
func (m *Machine) repull(a *attempt) {
	if a.pullsFrom != nil || a.complete || m.inGracePeriod(a.job) {
		return
	}
	if a.wired == a.job.epoch && a.fetchedState != (point{}) && !a.endSent {
		// A newcomer, which was never asked how far it is.
		if s := a.job.pullSource(a, nil); s != nil && a.ready {
			m.sendPull(a, s)
		}
		return
	}
	m.pull(a)
}

// void makes an ending job a running one: all that were COMPLETE are lost
// before another had the results. COMPLETE and DELIVERED are void with them.
func (m *Machine) reopen(j *job) {
	m.log(slog.LevelWarn, "every rank that was complete is lost: the job runs again", slog.String("job", j.id.String()))
	m.enter(j, wired)
	c := protocol.Cause{Kind: protocol.CauseLost, Rank: -1, Why: "every rank that was complete is lost"}
	for r := range j.total {
		if j.holders[r] != nil || j.removed[r] {
			continue
		}
		v, ok := j.losses.vacant[r]
		if !ok {
			g := j.departed[r]
			v.cause = protocol.Cause{Kind: protocol.CauseLost, Rank: r, Host: g.host, Why: g.why}
			j.markVacant(r, m.Now, v.cause)
		}
		if c.Rank < 0 {
			c = v.cause
		}
	}
	for _, a := range j.everybody() {
		a.pullsFrom = nil
		// A newer generation that stood by while the older one delivered is now
		// what the older one is needed for.
		j.generation = max(j.generation, a.generation)
	}
	m.endEpoch(j, c)
	for _, r := range sortedRanks(j.losses.vacant) {
		m.promote(j, r)
	}
}
