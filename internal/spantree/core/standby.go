// SPDX-License-Identifier: Apache-2.0

package core

import (
	"log/slog"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Attempts of a rank in a job that recovers. One has the seat: the first to be
// READY, and before that the first to join. The others stand by: they may read
// their shard, and take over when the seat is free.

// maxStandbys bounds the attempts of a rank that stand by. Launchers start one
// or two.
const maxStandbys = 8

// standing is what the server keeps of an attempt for the case of a loss.
type epochState struct {
	isHolder   bool
	generation uint32
	readyOrder int    // of READY, within the job
	checkpoint uint64 // step of the one it can read; rank 0 alone
	toldHolder uint64 // the attempt that STANDBY named last, +1 (0: none was sent)

	wired          protocol.Epoch // it is a member of; zero: none yet
	endSent        bool           // EPOCH_END was sent for that epoch
	endSentAt      time.Time
	answered       bool  // by POSITION, or by COMPLETE, which says more
	position       point // what it has completed
	hasWork        bool  // its contribution to the next step is in hand
	unknownHistory bool  // nothing is known of how it got there
	rejoined       bool  // it has reported its epoch: what the server told it before may be forgotten here
	fetchedState   point // the point whose state it was sent to fetch: it has no results of that step

	cutOff    []*attempt // sources from which nothing arrives, since the last completed step
	pullsFrom *attempt   // in the ending: from whom it fetches what it lacks
	pullPoint point      // the point at which that rank was
	ackedAt   time.Time  // when a heartbeat was answered last
}

// recovers tells that the job goes on after the loss of a rank.
func (j *job) recovers() bool { return j.policy != protocol.Abort && !j.vwStream && !j.mixed() }

// everybody is all attempts of a job: members by rank, then those that stand by, then
// the spares.
func (j *job) everybody() []*attempt {
	all := j.members()
	for _, r := range sortedRanks(j.standbys) {
		all = append(all, j.standbys[r]...)
	}
	return append(all, j.spares...)
}

// find is the attempt of a rank with this number.
func (j *job) find(rank int, number uint64) *attempt {
	if a := j.holders[rank]; a != nil && !a.vw && a.number == number {
		return a
	}
	for _, a := range j.standbys[rank] {
		if a.number == number {
			return a
		}
	}
	return nil
}

// free tells that an attempt that joins now may take the seat of its rank.
func (j *job) free(rank int) bool {
	if j.holders[rank] != nil || j.removed[rank] {
		return false
	}
	_, vacant := j.losses.vacant[rank]
	return j.phase == filling || vacant
}

// checkStandby refuses an attempt that can neither have the seat nor stand by.
func (j *job) checkStandby(rank int, number uint64) *refusal {
	if why, ok := j.evictions.attempts[number]; ok {
		return refuse(protocol.AttemptFenced, "this attempt of rank %d is out: %s", rank, why)
	}
	if j.free(rank) {
		return nil
	}
	if a := j.holders[rank]; a != nil && a.vw {
		return refuse(protocol.RankHeld, "rank %d of job %v is held by a vw worker, on %s", rank, j.id, a.host)
	}
	if n := len(j.standbys[rank]); n >= maxStandbys {
		return refuse(protocol.RankHeld, "%d attempts of rank %d of job %v stand by, the bound", n, rank, j.id)
	}
	return nil
}

// standBy keeps an attempt for later.
func (m *Machine) standBy(a *attempt) {
	j := a.job
	if j.standbys == nil {
		j.standbys = map[int][]*attempt{}
	}
	j.standbys[a.rank] = append(j.standbys[a.rank], a)
	m.Conns[a.conn] = a
	j.changes++
	m.log(slog.LevelInfo, "attempt stands by", append(a.attrs(), slog.Int("standbys", len(j.standbys[a.rank])))...)
}

// tellStandbys names the holder of a rank to the attempts that stand by.
func (m *Machine) tellStandbys(j *job, rank int) {
	f := &protocol.StandByFrame{}
	if a := j.holders[rank]; a != nil {
		if !a.ready {
			return // the race is open
		}
		f.Holder, f.Host = a.number, protocol.Clip(a.host, protocol.MaxHost)
	} else if j.free(rank) {
		return
	}
	for _, a := range j.standbys[rank] {
		if a.toldHolder != f.Holder+1 {
			a.toldHolder = f.Holder + 1
			m.send(a, f)
		}
	}
}

// seatOn is a rank on a host.
type rankOnHost struct {
	rank int
	host string
}

// shuns reports whether an attempt of the rank was evicted from the host of this one. Such an
// attempt has the rank only while no attempt on another host wants it.
func (j *job) shuns(a *attempt) bool { return j.evictions.hosts[rankOnHost{a.rank, a.from.Host}] }

// yields reports whether the holder of a rank leaves the seat to an attempt on another host.
// It does until it is wired.
func (j *job) yields(holder, to *attempt) bool {
	return j.phase == recovering && holder.wired == (protocol.Epoch{}) && j.shuns(holder) && !j.shuns(to)
}

// replaceShunned gives an attempt that stands by the seat of a holder that yields.
func (m *Machine) replaceShunned(a *attempt) {
	j := a.job
	if b := j.holders[a.rank]; !a.isHolder && b != nil && j.yields(b, a) {
		j.clearHolder(b)
		m.standBy(b)
		m.takeRank(a)
	}
}

// race puts an attempt that has become READY into the seat of its rank, if
// nobody READY is there.
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
	m.tellStandbys(j, a.rank)
}

// take moves an attempt that stands by into the free seat of its rank.
func (m *Machine) takeRank(a *attempt) {
	j := a.job
	j.dropStandby(a)
	j.setHolder(a)
	if a == j.handover.previous {
		j.handover.previous = nil
	}
	delete(j.departed, a.rank)
	m.log(slog.LevelInfo, "attempt takes the rank", append(a.attrs(), slog.Bool("ready", a.ready))...)
}

// promote fills a seat that has come free with the attempt that was READY
// first, else with the one that joined first, else with a spare. An attempt on a host from which
// one of the rank was evicted comes last.
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
		case j.shuns(a) != j.shuns(b):
			if j.shuns(b) {
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
	if s := j.spareFor(rank); s != nil && best != j.handover.previous && j.shuns(best) && !j.evictions.hosts[rankOnHost{rank, s.from.Host}] {
		m.assign(j, rank)
	} else {
		m.takeRank(best)
	}
	m.tellStandbys(j, rank)
}

func (j *job) dropStandby(a *attempt) {
	left := slices.DeleteFunc(j.standbys[a.rank], func(b *attempt) bool { return b == a })
	if j.standbys[a.rank] = left; len(left) == 0 {
		delete(j.standbys, a.rank)
	}
}

// checkShard refuses a replacement that has read other data than the attempt
// it replaces: its contributions would not be that rank's.
func (j *job) checkShard(a *attempt, s protocol.Shard) *refusal {
	want, known := j.wiring.shards[a.rank]
	if b := j.holders[a.rank]; !known && b != nil && b != a && b.ready {
		want = b.shard
	}
	want.Took, s.Took = 0, 0
	if want == (protocol.Shard{}) || want == s {
		return nil
	}
	return refuse(protocol.ShardDiffers, "rank %d has read %v here, the attempt that it would replace had read %v: give it the same input", a.rank, s, want)
}
