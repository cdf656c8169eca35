// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// An elastic job starts without its missing ranks when a time has passed since its first join.
// Otherwise a launcher that starts only as many ranks as fit would let it wait forever. The members
// are decided once, and sent to all attempts before the wiring, since each member may have to read
// more data. Excluded ranks are treated like ranks lost for good: their later attempts are
// standbys, and end with the job.

// checkElastic refuses a JOIN whose elastic settings contradict each other.
func checkElastic(f *protocol.JoinFrame) *refusal {
	if f.Elastic == 0 && f.Members == (protocol.Members{}) {
		return nil
	}
	if faults := protocol.CheckElastic(f.OnLoss, f.RunKey); len(faults) > 0 {
		return refuse(protocol.Malformed, "%s", faults[0].Reason)
	}
	switch {
	case f.Elastic == 0 || !f.Members.Decided && f.Members.ExcludedBits != "":
		return refuse(protocol.Malformed, "members without a decision")
	case len(f.Members.Included(int(f.Total))) == 0:
		return refuse(protocol.Malformed, "a job without ranks")
	}
	return nil
}

// accountedFor returns the number of ranks that have joined, or for which the job does not wait.
func (j *job) accountedFor() int { return len(j.holders) + len(j.removed) }

// decideMembers decides which ranks are members, when all have joined or the time has passed.
// Spares take missing ranks first.
func (m *Machine) decideMembers(j *job) {
	if j.startTimeout == 0 || j.membership.Decided || j.phase != filling {
		return
	}
	switch {
	case len(j.holders) == 0: // there may be spares
		j.fill.firstJoin = time.Time{}
		return
	case j.fill.firstJoin.IsZero():
		j.fill.firstJoin = m.Now
	}
	if m.inGracePeriod(j) {
		return
	}
	if j.opens() && j.ready < len(j.holders) {
		return // ranks may still be lost, return or join
	}
	if len(j.holders) < j.total {
		if m.Now.Sub(j.fill.firstJoin) < j.startTimeout && !j.allDeparted() || j.mixed() {
			return
		}
		for _, r := range j.missing() {
			m.assign(j, r)
		}
	}
	missing := j.missing()
	m.setMembers(j, protocol.MembersWithout(missing))
	if len(missing) > 0 {
		m.log(slog.LevelWarn, "job started without ranks", slog.String("job", j.id.String()), slog.String("missing", protocol.Ranks(missing)),
			slog.Int("left", len(j.holders)), slog.String("after", j.startTimeout.String()))
	}
	for _, a := range j.attempts() {
		if !a.vw && a.rank >= 0 {
			m.send(a, &protocol.MembersFrame{Members: j.membership})
		}
	}
	m.wire(j)
}

// opens reports whether the job is wired with the ranks that have joined when all of these are READY. Such a job is
// elastic, and its members are decided then.
func (j *job) opens() bool { return j.policy == protocol.Open }

// allDeparted reports whether the job is open, and has lost all of its missing ranks: it does not wait for those.
func (j *job) allDeparted() bool {
	return j.opens() && !slices.ContainsFunc(j.missing(), func(rank int) bool {
		_, left := j.departed[rank]
		return !left
	})
}

// setMembers removes the excluded ranks from the job.
func (m *Machine) setMembers(j *job, r protocol.Members) {
	j.membership = r
	j.changes++
	for _, rank := range r.Excluded(j.total) {
		a := j.holders[rank]
		if a != nil && j.grows() {
			continue // it was taken back before the server's restart
		}
		if a != nil { // it joined before the restarted server knew the members
			j.clearHolder(a)
			m.standBy(a)
			m.send(a, &protocol.MembersFrame{Members: r})
		}
		delete(j.losses.vacant, rank)
		delete(j.departed, rank)
		assign(&j.removed, rank, true)
		m.notifyStandbys(j, rank)
	}
}

// reportsMembers reports whether an attempt reports other members than those of the job. An excluded attempt is not
// trusted with the members of a job that has none.
func (j *job) reportsMembers(f *protocol.JoinFrame) bool {
	if !f.Members.Decided || f.Members == j.membership {
		return false
	}
	return j.membership.Decided || f.Spare() || protocol.IsMember(f.Members.Included(j.total), f.RankOrNone())
}

// checkMembers refuses an attempt that reports members which the job cannot have.
func (j *job) checkMembers(f *protocol.JoinFrame) *refusal {
	if !j.reportsMembers(f) {
		return nil
	}
	if j.membership.Decided {
		return refuse(protocol.AttemptFenced, "job %v runs without %s, but this attempt of rank %d joined it without %s",
			j.id, protocol.RanksOrNone(j.membership.Excluded(j.total)), f.RankOrNone(), protocol.RanksOrNone(f.Members.Excluded(j.total)))
	}
	if missing := f.Members.Excluded(j.total); j.mixed() && len(missing) > 0 { // vw's tree needs all ranks
		return refuse(protocol.RankHeld, "vw workers are in job %v: it cannot be without %s", j.id, protocol.Ranks(missing))
	}
	return nil
}

// learnMembers adopts the members that an attempt reports, if this server was restarted and has none. checkMembers has
// accepted them.
func (m *Machine) learnMembers(j *job, f *protocol.JoinFrame) {
	if j.reportsMembers(f) {
		m.setMembers(j, f.Members)
		m.advance(j)
	}
}

// elasticReport returns the part of a report on the start without missing ranks.
func (j *job) elasticReport(now time.Time) string {
	switch missing := j.membership.Excluded(j.total); {
	case j.startTimeout == 0 || j.mixed():
		return ""
	case j.membership.Decided && len(missing) > 0:
		return fmt.Sprintf("; the job starts without %s", protocol.Ranks(missing))
	case j.membership.Decided:
		return ""
	}
	if j.opens() {
		return "; the job starts without them when the others are ready"
	}
	left := j.startTimeout
	if !j.fill.firstJoin.IsZero() {
		left = max(0, left-now.Sub(j.fill.firstJoin))
	}
	return fmt.Sprintf("; the job starts without them in %v", left.Round(time.Second))
}

// A job that grows shrinks at a loss, and takes back ranks that it runs without: lost ones, and
// excluded ones that join late. Their attempts are standbys until they are READY. Then they end the
// epoch, and are members of the next one, in which they fetch the state.

// shrinks reports whether the job continues without lost ranks.
func (j *job) shrinks() bool { return j.policy == protocol.Shrink || j.grows() || j.opens() }

// grows reports whether the job takes back ranks that it runs without.
func (j *job) grows() bool { return j.policy == protocol.Grow }

// grow takes back all ranks that have a READY standby.
func (m *Machine) grow(j *job) {
	if !j.grows() || len(j.removed) == 0 || j.phase != wired && j.phase != recovering || m.inGracePeriod(j) {
		return
	}
	var first *attempt
	for _, r := range sortedRanks(j.removed) {
		for _, a := range j.standbys[r] {
			if !a.ready {
				continue
			}
			delete(j.removed, r)
			m.takeRank(a)
			m.notifyStandbys(j, r)
			m.log(slog.LevelInfo, "job continued with another rank", a.attrs()...)
			if first == nil {
				first = a
			}
			break
		}
	}
	if first == nil {
		return
	}
	m.endEpoch(j, protocol.Cause{
		Kind: protocol.CauseHandover, Rank: first.rank, Host: first.host,
		Why: fmt.Sprintf("rank %d (%s) joins the running job", first.rank, first.host),
	})
	m.advance(j)
}
