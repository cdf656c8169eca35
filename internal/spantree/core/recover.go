// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The loss of a rank in a job that recovers. EPOCH_END, not final, ends the epoch;
// every live holder answers POSITION; the free seat goes to a standby that is READY,
// or to the first attempt that becomes so. When all seats have a READY attempt
// and all holders have answered, EPOCH_START begins the next epoch at the newest step
// that any of them has completed.

func sortedRanks[V any](by map[int]V) []int { return slices.Sorted(maps.Keys(by)) }

// loseHolder handles the loss of the attempt in the seat of a rank.
func (m *Machine) loseHolder(a *attempt, why string) {
	j := a.job
	if m.inGracePeriod(j) {
		// No verdict yet: it may come back, or another attempt of it.
		m.log(slog.LevelWarn, "rank has gone again", append(a.attrs(), slog.String("why", why))...)
		m.do(CloseConn{a.conn})
		m.forget(a)
		j.departed[a.rank] = departure{host: a.host, why: why, at: m.Now}
		return
	}
	if j.phase == ending && a.complete && len(a.owed) == 0 {
		m.log(slog.LevelInfo, "rank left after its last duty", append(a.attrs(), slog.String("why", why))...)
		m.do(CloseConn{a.conn})
		m.forget(a)
		j.departed[a.rank] = departure{host: a.host, why: why, at: m.Now}
		// Who is not through may still need it.
		m.endEpoch(j, lossOf(a, why))
		m.afterLoss(j, a)
		return
	}
	m.log(slog.LevelWarn, "rank lost", append(a.attrs(), slog.String("why", why))...)
	if c := m.vacate(a, why); a.wired == j.epoch {
		m.endEpoch(j, c)
	}
	m.promote(j, a.rank)
	m.afterLoss(j, a)
}

// vacate takes an attempt out of its seat, which then must be filled again.
func (m *Machine) vacate(a *attempt, why string) protocol.Cause {
	j := a.job
	m.do(CloseConn{a.conn})
	member := a.wired != protocol.Epoch{}
	if a.complete {
		assign(&j.finish.owedByLost, a.rank, a.owed)
	}
	m.forget(a)
	c := lossOf(a, why)
	j.departed[a.rank] = departure{host: a.host, why: why, at: m.Now}
	if j.noAttempts() {
		j.wiring.shards = nil // nobody is left whose sums hold what was read
	}
	if member {
		j.markVacant(a.rank, m.Now, c)
		if until := a.ackedAt.Add(a.lostAfter / 2); until.After(j.losses.leases[a.rank]) {
			assign(&j.losses.leases, a.rank, until)
		}
	}
	return c
}

func lossOf(a *attempt, why string) protocol.Cause {
	return protocol.Cause{Kind: protocol.CauseLost, Rank: a.rank, Host: a.host, Why: why}
}

// leave notes that a rank must be replaced.
func (j *job) markVacant(rank int, now time.Time, c protocol.Cause) {
	if _, ok := j.losses.vacant[rank]; !ok {
		assign(&j.losses.vacant, rank, vacancy{now, c})
	}
}

// assign is an assignment to a map that may not be there yet.
func assign[K comparable, V any](to *map[K]V, k K, v V) {
	if *to == nil {
		*to = map[K]V{}
	}
	(*to)[k] = v
}

// endEpoch tells the members that the epoch is over, those that have not been
// told. In the ending that is no business of those that are COMPLETE.
func (m *Machine) endEpoch(j *job, c protocol.Cause) {
	c.Host, c.Why = protocol.Clip(c.Host, protocol.MaxHost), protocol.Clip(c.Why, protocol.MaxText)
	if j.phase == wired {
		m.enter(j, recovering)
		j.lastEnd.cause, j.lastEnd.at = c, m.Now
		m.log(slog.LevelWarn, "epoch over", slog.String("job", j.id.String()), slog.String("epoch", j.epoch.String()),
			slog.Int("rank", c.Rank), slog.String("host", c.Host), slog.String("why", c.Why))
	}
	j.changes++
	f := &protocol.EpochEndFrame{Epoch: j.epoch, Cause: c}
	for _, a := range j.members() {
		if a.wired == j.epoch && !a.endSent && !a.complete && a.pullsFrom == nil {
			m.sendEpochEnd(a, f)
		}
	}
}

func (m *Machine) sendEpochEnd(a *attempt, f *protocol.EpochEndFrame) {
	m.send(a, f)
	a.endSent, a.endSentAt = true, m.Now
	if !a.answered {
		a.job.lastEnd.unanswered++
	}
}

// onAt takes the answer to EPOCH_END.
func (m *Machine) onPosition(a *attempt, f *protocol.PositionFrame) {
	j := a.job
	if !j.recovers() || !a.isHolder || a.wired == (protocol.Epoch{}) || f.Epoch != a.wired || a.answered || a.complete {
		return // of an epoch that nobody asks about any more
	}
	a.answered, a.position, a.hasWork = true, point{f.Completed, f.Step}, f.Work
	if a.unknownHistory {
		a.fetchedState = a.position // perhaps: then it has no results
	}
	if a.endSent {
		j.lastEnd.unanswered--
	} else {
		// The epoch has ended for this rank before the server knew it: the EPOCH_END
		// came from the server's earlier life.
		a.endSent, a.endSentAt = true, m.Now
		m.endEpoch(j, protocol.Cause{Kind: protocol.CauseLost, Rank: -1, Why: "the epoch was over before this server started"})
	}
	m.pull(a)
	m.advance(j)
}

// advance goes as far with a job as its members allow.
func (m *Machine) advance(j *job) {
	switch j.phase {
	case filling:
		m.wire(j)
	case recovering:
		m.startNextEpoch(j)
	case ending:
		m.advanceEnding(j)
	}
}

// rewire begins the next epoch when everybody is there and has answered.
func (m *Machine) startNextEpoch(j *job) {
	if j.lastEnd.unanswered > 0 || m.inGracePeriod(j) || m.Now.Sub(j.lastEnd.at) < j.losses.effort.pause() {
		return
	}
	if m.shrink(j); j.phase == failed || j.accountedFor() < j.total || j.ready < j.native || len(j.holders) == 0 {
		return
	}
	if m.settleCharge(j) {
		return // an attempt was evicted, which has been dealt with
	}
	if a := j.stranded(); a != nil {
		m.evictStranded(a)
		return
	}
	m.finishHandover(j)
	from, lacks := j.resumePoint()
	completed := from.step > j.wiring.resumeAt.step
	if completed {
		j.clearCutOffs()
	}
	if rank, n := j.losses.effort.spent(completed, j.lastEnd.cause.Rank, j.contributions(from)); n >= maxFruitless {
		c := j.lastEnd.cause
		c.Why = fmt.Sprintf("%s; %d epochs since step %d have ended by rank %d without a rank that got further; %s", c.Why, n, from.step, rank, j.chargeTable())
		m.fail(j, c)
		return
	}
	m.startEpoch(j, from, lacks)
}

// watchRecovery finds who does not answer EPOCH_END, and who is not replaced.
func (m *Machine) watchRecovery(j *job) {
	if j.phase != recovering && j.phase != ending || m.inGracePeriod(j) {
		return
	}
	if j.lastEnd.unanswered > 0 {
		for _, a := range j.members() {
			if a.endSent && !a.answered && !a.complete && m.Now.Sub(a.endSentAt) > a.lostAfter && m.Conns[a.conn] == a {
				why := fmt.Sprintf("it has not said within %v how far it is", a.lostAfter)
				m.send(a, &protocol.FencedFrame{Epoch: j.epoch, Reason: why})
				m.lose(a, why)
			}
		}
	}
	for _, r := range sortedRanks(j.losses.vacant) {
		if v := j.losses.vacant[r]; j.holders[r] == nil && m.Now.Sub(v.since) > j.replaceTimeout {
			v.cause.Why = fmt.Sprintf("%s, and not replaced within %v", v.cause.Why, j.replaceTimeout)
			m.fail(j, v.cause)
			return
		}
	}
	switch {
	case j.phase == recovering && j.losses.effort.pause() > 0:
		m.startNextEpoch(j)
	case j.phase == ending && j.finish.leaseWaits:
		m.advanceEnding(j)
	}
}

// forgotten tells that nobody is left who knows anything of the job.
func (j *job) noAttempts() bool {
	return j.phase != filling && len(j.holders) == 0 && len(j.standbys) == 0
}

// deserted tells that nobody is left at all.
func (j *job) empty() bool { return j.noAttempts() && len(j.spares) == 0 }
