// SPDX-License-Identifier: Apache-2.0

package core

import (
	"log/slog"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Attempts of a rank in a job that recovers. The holder is the first attempt that is READY; before
// that, the first that has joined. All others are standbys: they may read their shard, and replace
// the holder.

// maxStandbys limits the standbys of a rank. Launchers start one or two.
const maxStandbys = 8

// standBy makes an attempt a standby.
func (m *Machine) standBy(a *attempt) {
	j := a.job
	if j.standbys == nil {
		j.standbys = map[int][]*attempt{}
	}
	j.standbys[a.rank] = append(j.standbys[a.rank], a)
	m.Conns[a.conn] = a
	j.changes++
	m.log(slog.LevelInfo, "standby joined", append(a.attrs(), slog.Int("standbys", len(j.standbys[a.rank])))...)
}

// notifyStandbys sends the holder of a rank to its standbys.
func (m *Machine) notifyStandbys(j *job, rank int) {
	f := &protocol.StandByFrame{}
	if a := j.holders[rank]; a != nil {
		if !a.ready {
			return // another attempt may become READY first
		}
		f.Holder, f.Host = a.number, protocol.Clip(a.host, protocol.MaxHost)
	} else if j.free(rank) || j.grows() {
		return
	}
	for _, a := range j.standbys[rank] {
		if a.sentHolder != f.Holder+1 {
			a.sentHolder = f.Holder + 1
			m.send(a, f)
		}
	}
}

// rankOnHost is a rank on a host.
type rankOnHost struct {
	rank int
	host string
}

// onEvictedHost reports whether an attempt of the rank was evicted from the host of this one. Such an
// attempt may hold the rank only if no attempt on another host can.
func (j *job) onEvictedHost(a *attempt) bool {
	return j.evictions.hosts[rankOnHost{a.rank, a.from.Host}]
}

// yields reports whether a holder leaves the rank to an attempt on another host. It may do so until
// it is wired.
func (j *job) yields(holder, to *attempt) bool {
	return j.phase == recovering && holder.wired == (protocol.Epoch{}) && j.onEvictedHost(holder) && !j.onEvictedHost(to)
}

// replaceOnEvictedHost makes a standby the holder instead of one that yields.
func (m *Machine) replaceOnEvictedHost(a *attempt) {
	j := a.job
	if b := j.holders[a.rank]; !a.isHolder && b != nil && j.yields(b, a) {
		j.clearHolder(b)
		m.standBy(b)
		m.takeRank(a)
	}
}

// claimRank makes an attempt that has become READY the holder of its rank, unless a READY one holds
// it.
func (m *Machine) claimRank(a *attempt) {
	j := a.job
	if !a.isHolder {
		switch b := j.holders[a.rank]; {
		case b == nil && j.free(a.rank):
			m.takeRank(a)
		case b != nil && !b.ready && !b.vw && !j.yields(a, b):
			j.clearHolder(b)
			m.standBy(b)
			m.takeRank(a)
		}
	}
	m.notifyStandbys(j, a.rank)
}

// takeRank makes a standby the holder of its free rank.
func (m *Machine) takeRank(a *attempt) {
	j := a.job
	j.dropStandby(a)
	j.setHolder(a)
	if a == j.handover.previous {
		j.handover.previous = nil
	}
	delete(j.departed, a.rank)
	m.log(slog.LevelInfo, "attempt took the rank", append(a.attrs(), slog.Bool("ready", a.ready))...)
}

// promote fills a free rank with the standby that was READY first, else with the one that joined
// first, else with a spare. Attempts on a host from which one of the rank was evicted come last.
func (m *Machine) promote(j *job, rank int) {
	if !j.free(rank) {
		return
	}
	if len(j.standbys[rank]) == 0 {
		m.assign(j, rank)
		return
	}
	best := slices.MinFunc(j.standbys[rank], func(a, b *attempt) int {
		switch {
		case a == j.handover.previous:
			return -1 // it has the state
		case b == j.handover.previous:
			return 1
		case j.onEvictedHost(a) != j.onEvictedHost(b):
			if j.onEvictedHost(b) {
				return -1
			}
			return 1
		case a.ready && b.ready:
			return a.readyOrder - b.readyOrder
		case a.ready:
			return -1
		case b.ready:
			return 1
		}
		return 0
	})
	if s := j.spareFor(rank); s != nil && best != j.handover.previous && j.onEvictedHost(best) && !j.evictions.hosts[rankOnHost{rank, s.from.Host}] {
		m.assign(j, rank)
	} else {
		m.takeRank(best)
	}
	m.notifyStandbys(j, rank)
}

// dropStandby removes a standby that has become the holder or has left.
func (j *job) dropStandby(a *attempt) {
	left := slices.DeleteFunc(j.standbys[a.rank], func(b *attempt) bool { return b == a })
	if j.standbys[a.rank] = left; len(left) == 0 {
		delete(j.standbys, a.rank)
	}
}

// Spares are attempts without a rank, in a job that waits for replacements. The spare that joined
// first takes a lost rank that has no standby. It also takes a rank that has never joined and for
// which all others wait. It is then an attempt of the rank like any other: it reads the shard,
// sends READY, and fetches the state. Another attempt of the rank may become READY before it. An
// attempt on a host from which one of the rank was evicted is the last choice.

// maxSpares limits the spares of a job, which occupy memory while they wait.
const maxSpares = 256

// allowedFromSpare reports whether an attempt without a rank may send the frame.
func allowedFromSpare(f protocol.Frame) bool {
	switch f.(type) {
	case *protocol.HeartbeatFrame, *protocol.ClockFrame, *protocol.LeaveFrame, *protocol.FailFrame:
		return true
	}
	return false
}

// keepSpare admits a spare, which may get a rank at once.
func (m *Machine) keepSpare(a *attempt) {
	j := a.job
	j.spares = append(j.spares, a)
	m.Conns[a.conn] = a
	j.changes++
	m.log(slog.LevelInfo, "spare joined", append(a.attrs(), slog.Int("spares", len(j.spares)))...)
	m.send(a, a.joinedFrame())
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
