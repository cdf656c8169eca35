// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A job may start with the ranks that have come, when the time that its ranks have said is
// over: a launcher that starts what fits, and the others when there is room, would let it
// wait for ever. Who takes part is decided once, and told to all before they are wired, since
// each may have to read more then. The others are removed as ranks are that are lost for
// good: what comes of them later stands by, and ends with the job.

// checkElastic refuses a JOIN of a job that could not keep the promise.
func checkElastic(f *protocol.JoinFrame) *refusal {
	if f.Elastic == 0 && f.Members == (protocol.Members{}) {
		return nil
	}
	if faults := protocol.CheckElastic(f.OnLoss, f.RunKey); len(faults) > 0 {
		return refuse(protocol.Malformed, "%s", faults[0].Reason)
	}
	switch {
	case f.Elastic == 0 || !f.Members.Decided && f.Members.ExcludedBits != "":
		return refuse(protocol.Malformed, "a roster that nobody has decided")
	case len(f.Members.Included(int(f.Total))) == 0:
		return refuse(protocol.Malformed, "a job without ranks")
	}
	return nil
}

// here is how many ranks have joined, or are not waited for.
func (j *job) accountedFor() int { return len(j.holders) + len(j.removed) }

// muster decides who takes part, when all have come or the time is over. Spares come first.
func (m *Machine) decideMembers(j *job) {
	if j.startTimeout == 0 || j.membership.Decided || j.phase != filling {
		return
	}
	switch {
	case len(j.holders) == 0: // but perhaps spares
		j.fill.firstJoin = time.Time{}
		return
	case j.fill.firstJoin.IsZero():
		j.fill.firstJoin = m.Now
	}
	if m.inGracePeriod(j) {
		return
	}
	if len(j.holders) < j.total {
		if m.Now.Sub(j.fill.firstJoin) < j.startTimeout || j.mixed() {
			return
		}
		for _, r := range j.missing() {
			m.assign(j, r)
		}
	}
	missing := j.missing()
	m.setMembers(j, protocol.MembersWithout(missing))
	if len(missing) > 0 {
		m.log(slog.LevelWarn, "job starts without ranks", slog.String("job", j.id.String()), slog.String("missing", protocol.Ranks(missing)),
			slog.Int("left", len(j.holders)), slog.String("after", j.startTimeout.String()))
	}
	for _, a := range j.everybody() {
		if !a.vw && a.rank >= 0 {
			m.send(a, &protocol.MembersFrame{Members: j.membership})
		}
	}
	m.wire(j)
}

// decideRoster removes who does not take part.
func (m *Machine) setMembers(j *job, r protocol.Members) {
	j.membership = r
	j.changes++
	for _, rank := range r.Excluded(j.total) {
		if a := j.holders[rank]; a != nil { // it came to a server that did not know
			j.clearHolder(a)
			m.standBy(a)
			m.send(a, &protocol.MembersFrame{Members: r})
		}
		delete(j.losses.vacant, rank)
		delete(j.departed, rank)
		assign(&j.removed, rank, true)
		m.tellStandbys(j, rank)
	}
}

// learnRoster takes over what an attempt knows and a server that has been started again does
// not.
func (m *Machine) learnMembers(j *job, f *protocol.JoinFrame) *refusal {
	switch {
	case !f.Members.Decided || f.Members == j.membership || !j.membership.Decided && !f.Spare() && !protocol.IsMember(f.Members.Included(j.total), f.RankOrNone()):
		return nil // one that takes no part need not be believed
	case j.membership.Decided:
		return refuse(protocol.AttemptFenced, "job %v runs without %s, and this attempt of rank %d has heard that it is without %s",
			j.id, protocol.RanksOrNone(j.membership.Excluded(j.total)), f.RankOrNone(), protocol.RanksOrNone(f.Members.Excluded(j.total)))
	}
	if missing := f.Members.Excluded(j.total); j.mixed() && len(missing) > 0 {
		return refuse(protocol.RankHeld, "vw workers are in job %v: it cannot be without %s", j.id, protocol.Ranks(missing))
	}
	m.setMembers(j, f.Members)
	m.advance(j)
	return nil
}

// elasticReport says when a job that fills starts without the ranks that are missing, or
// that it does.
func (j *job) elasticReport(now time.Time) string {
	switch missing := j.membership.Excluded(j.total); {
	case j.startTimeout == 0 || j.mixed():
		return ""
	case j.membership.Decided && len(missing) > 0:
		return fmt.Sprintf("; it starts without %s", protocol.Ranks(missing))
	case j.membership.Decided:
		return ""
	}
	left := j.startTimeout
	if !j.fill.firstJoin.IsZero() {
		left = max(0, left-now.Sub(j.fill.firstJoin))
	}
	return fmt.Sprintf("; in %v it starts without those", left.Round(time.Second))
}
