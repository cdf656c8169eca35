// SPDX-License-Identifier: Apache-2.0

package core

import (
	"log/slog"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Spares are attempts without a rank, in a job that waits for replacements. The spare that joined
// first takes a lost rank that has no standby. It also takes a rank that has never joined and for
// which all others wait. It is then an attempt of the rank like any other: it reads the shard,
// sends READY, and fetches the state. Another attempt of the rank may become READY before it. An
// attempt on a host from which one of the rank was evicted is the last choice.

// maxSpares limits the spares of a job, which occupy memory while they wait.
const maxSpares = 256

// checkSpare refuses a spare that the job cannot use.
func checkSpare(f *protocol.JoinFrame) *refusal {
	switch {
	case f.OnLoss != protocol.Wait:
		return refuse(protocol.Malformed, "a spare of a job with on_loss=%v: only a job that waits for replacements (wait) can use one", f.OnLoss)
	case f.Epoch != protocol.Epoch{}:
		return refuse(protocol.Malformed, "a spare in epoch %v: spares have no rank", f.Epoch)
	}
	return nil
}

// checkRoom refuses a spare above the limit.
func (j *job) checkRoom() *refusal {
	if n := len(j.spares); n >= maxSpares {
		return refuse(protocol.RankHeld, "job %v has %d spares, the limit", j.id, n)
	}
	return nil
}

// findSpare returns the attempt with this number that has joined as a spare. It may have a rank
// without knowing it.
func (j *job) findSpare(number uint64) *attempt {
	all := j.everybody()
	if i := slices.IndexFunc(all, func(a *attempt) bool { return !a.vw && a.number == number }); i >= 0 {
		return all[i]
	}
	return nil
}

// allowedFromSpare reports whether an attempt without a rank may send the frame.
func allowedFromSpare(f protocol.Frame) bool {
	switch f.(type) {
	case *protocol.HeartbeatFrame, *protocol.LeaveFrame, *protocol.FailFrame:
		return true
	}
	return false
}

// keepSpare admits a spare, which may get a rank at once.
func (m *Machine) keepSpare(a *attempt, joined *protocol.JoinedFrame) {
	j := a.job
	j.spares = append(j.spares, a)
	m.Conns[a.conn] = a
	j.changes++
	m.log(slog.LevelInfo, "spare joined", append(a.attrs(), slog.Int("spares", len(j.spares)))...)
	joined.Joined = uint32(j.accountedFor())
	m.send(a, joined)
	if !m.inGracePeriod(j) {
		m.assignAll(j)
	}
}

// dropSpare removes a spare that has got a rank or has left.
func (j *job) dropSpare(a *attempt) {
	j.spares = slices.DeleteFunc(j.spares, func(b *attempt) bool { return b == a })
	j.changes++
}

// assignAll assigns spares to the ranks that have been lost.
func (m *Machine) assignAll(j *job) {
	left := sortedRanks(j.losses.vacant)
	if j.phase == filling {
		left = sortedRanks(j.departed)
	}
	for _, r := range left {
		if j.free(r) && len(j.standbys[r]) == 0 {
			m.assign(j, r)
		}
	}
}

// spareFor returns the spare for a rank: the one that joined first, on a host from which no attempt
// of the rank was evicted if possible; nil if there is none.
func (j *job) spareFor(rank int) *attempt {
	for _, a := range j.spares {
		if !j.evictions.hosts[rankOnHost{rank, a.from.Host}] {
			return a
		}
	}
	if len(j.spares) == 0 {
		return nil
	}
	return j.spares[0]
}

// assign gives a free rank to a spare, if there is one.
func (m *Machine) assign(j *job, rank int) {
	a := j.spareFor(rank)
	if a == nil {
		return
	}
	j.dropSpare(a)
	a.rank, a.joined = rank, m.Now
	j.setHolder(a)
	delete(j.departed, rank)
	m.log(slog.LevelInfo, "spare took the rank", append(a.attrs(), slog.Int("spares", len(j.spares)))...)
	m.send(a, &protocol.AssignFrame{Rank: rank})
	if j.membership.Decided {
		m.send(a, &protocol.MembersFrame{Members: j.membership})
	}
}

// assignMissing assigns spares to ranks that have never joined, when all others have been READY for
// LostAfter. Until then a slow launcher may be the cause.
func (m *Machine) assignMissing(j *job) {
	waits := j.phase == filling && len(j.holders) > 0 && j.accountedFor() < j.total && j.ready == j.native && !m.inGracePeriod(j)
	switch {
	case !waits || len(j.spares) == 0:
		j.fill.missingFrom = time.Time{}
	case j.fill.missingFrom.IsZero():
		j.fill.missingFrom = m.Now
	case m.Now.Sub(j.fill.missingFrom) > m.LostAfter:
		for _, r := range j.missing() {
			if len(j.standbys[r]) == 0 {
				m.assign(j, r)
			}
		}
	}
}
