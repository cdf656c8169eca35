// SPDX-License-Identifier: Apache-2.0

package core

import (
	"log/slog"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/resume"
)

// Attempts of a rank in a job that recovers. The holder is the first attempt that is READY; before
// that, the first that has joined. All others are standbys: they may read their shard, and replace
// the holder.

// maxStandbys limits the standbys of a rank. Launchers start one or two.
const maxStandbys = 8

// epochState is the state of a native attempt in the epochs of its job.
type epochState struct {
	isHolder   bool
	generation uint32
	readyOrder int    // of READY within the job
	checkpoint uint64 // step of its checkpoint, of rank 0 only; 0: none
	toldHolder uint64 // holder in the newest STANDBY, plus 1; 0: none was sent

	wired          protocol.Epoch // epoch of which it is a member; zero: none yet
	endSent        bool           // EPOCH_END of that epoch was sent
	endSentAt      time.Time
	answered       bool         // by POSITION or COMPLETE
	position       resume.Point // its newest completed step
	hasWork        bool         // it has its contribution to the next step
	unknownHistory bool         // it has joined a restarted server, which does not know how it reached its position
	rejoined       bool         // it has reported its epoch to a restarted server
	fetchedState   resume.Point // resume point for which it fetches the state: it does not have the results of that step

	cutOff    []*attempt   // sources of which it gets no data, since the newest completed step
	pullsFrom *attempt     // source in the newest PULL; nil: none
	pullPoint resume.Point // position of that source
	ackedAt   time.Time    // time of the newest HEARTBEAT_ACK
}

// recovers reports whether the job continues after the loss of a rank.
func (j *job) recovers() bool { return j.policy != protocol.Abort && !j.vwStream && !j.mixed() }

// everybody returns all attempts of a job: holders by rank, then standbys, then spares.
func (j *job) everybody() []*attempt {
	all := j.members()
	for _, r := range sortedRanks(j.standbys) {
		all = append(all, j.standbys[r]...)
	}
	return append(all, j.spares...)
}

// find returns the attempt of a rank with this number, or nil.
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

// free reports whether an attempt that joins now may become the holder of the rank.
func (j *job) free(rank int) bool {
	if j.holders[rank] != nil || j.removed[rank] {
		return false
	}
	_, vacant := j.losses.vacant[rank]
	return j.phase == filling || vacant
}

// checkStandby refuses an attempt that can be neither holder nor standby.
func (j *job) checkStandby(rank int, number uint64) *refusal {
	if why, ok := j.evictions.attempts[number]; ok {
		return refuse(protocol.AttemptFenced, "this attempt of rank %d was evicted: %s", rank, why)
	}
	if j.free(rank) {
		return nil
	}
	if a := j.holders[rank]; a != nil && a.vw {
		return refuse(protocol.RankHeld, "rank %d of job %v is held by a vw worker, on %s", rank, j.id, a.host)
	}
	if n := len(j.standbys[rank]); n >= maxStandbys {
		return refuse(protocol.RankHeld, "%d attempts of rank %d of job %v are standbys, the limit", n, rank, j.id)
	}
	return nil
}

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

// tellStandbys sends the holder of a rank to its standbys.
func (m *Machine) tellStandbys(j *job, rank int) {
	f := &protocol.StandByFrame{}
	if a := j.holders[rank]; a != nil {
		if !a.ready {
			return // another attempt may become READY first
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

// rankOnHost is a rank on a host.
type rankOnHost struct {
	rank int
	host string
}

// shuns reports whether an attempt of the rank was evicted from the host of this one. Such an
// attempt may hold the rank only if no attempt on another host can.
func (j *job) shuns(a *attempt) bool { return j.evictions.hosts[rankOnHost{a.rank, a.from.Host}] }

// yields reports whether a holder leaves the rank to an attempt on another host. It may do so until
// it is wired.
func (j *job) yields(holder, to *attempt) bool {
	return j.phase == recovering && holder.wired == (protocol.Epoch{}) && j.shuns(holder) && !j.shuns(to)
}

// replaceShunned makes a standby the holder instead of one that yields.
func (m *Machine) replaceShunned(a *attempt) {
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
	m.tellStandbys(j, a.rank)
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

// dropStandby removes a standby that has become the holder or has left.
func (j *job) dropStandby(a *attempt) {
	left := slices.DeleteFunc(j.standbys[a.rank], func(b *attempt) bool { return b == a })
	if j.standbys[a.rank] = left; len(left) == 0 {
		delete(j.standbys, a.rank)
	}
}

// checkShard refuses a replacement that has read other data than the attempt that it would replace:
// its contributions would not be that rank's.
func (j *job) checkShard(a *attempt, s protocol.Shard) *refusal {
	want, known := j.wiring.shards[a.rank]
	if b := j.holders[a.rank]; !known && b != nil && b != a && b.ready {
		want = b.shard
	}
	want.Took, s.Took = 0, 0 // the time to read the data does not identify them
	if want == (protocol.Shard{}) || want == s {
		return nil
	}
	return refuse(protocol.ShardDiffers, "rank %d has read %v here, the attempt to replace has read %v: use the same input", a.rank, s, want)
}
