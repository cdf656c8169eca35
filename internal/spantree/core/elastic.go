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

// elastic is what a job keeps of it.
type elastic struct {
	startWithin time.Duration // of the first rank's coming; 0: it waits for all
	began       time.Time     // when it came
	roster      protocol.Members
}

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
func (j *job) here() int { return len(j.seats) + len(j.removed) }

// muster decides who takes part, when all have come or the time is over. Spares come first.
func (m *Machine) muster(j *job) {
	if j.startWithin == 0 || j.roster.Decided || j.state != filling {
		return
	}
	switch {
	case len(j.seats) == 0: // but perhaps spares
		j.began = time.Time{}
		return
	case j.began.IsZero():
		j.began = m.Now
	}
	if m.gracious(j) {
		return
	}
	if len(j.seats) < j.total {
		if m.Now.Sub(j.began) < j.startWithin || j.mixed() {
			return
		}
		for _, r := range j.missing() {
			m.assign(j, r)
		}
	}
	missing := j.missing()
	m.decideRoster(j, protocol.MembersWithout(missing))
	if len(missing) > 0 {
		m.log(slog.LevelWarn, "job starts without ranks", slog.String("job", j.id.String()), slog.String("missing", protocol.Ranks(missing)),
			slog.Int("left", len(j.seats)), slog.String("after", j.startWithin.String()))
	}
	for _, a := range j.everybody() {
		if !a.vw && a.rank >= 0 {
			m.send(a, &protocol.MembersFrame{Members: j.roster})
		}
	}
	m.wire(j)
}

// decideRoster removes who does not take part.
func (m *Machine) decideRoster(j *job, r protocol.Members) {
	j.roster = r
	j.changed++
	for _, rank := range r.Excluded(j.total) {
		if a := j.seats[rank]; a != nil { // it came to a server that did not know
			j.unseat(a)
			m.standBy(a)
			m.send(a, &protocol.MembersFrame{Members: r})
		}
		delete(j.vacant, rank)
		delete(j.gone, rank)
		assign(&j.removed, rank, true)
		m.tellStandbys(j, rank)
	}
}

// learnRoster takes over what an attempt knows and a server that has been started again does
// not.
func (m *Machine) learnRoster(j *job, f *protocol.JoinFrame) *refusal {
	switch {
	case !f.Members.Decided || f.Members == j.roster || !j.roster.Decided && !f.Spare() && !protocol.IsMember(f.Members.Included(j.total), f.RankOrNone()):
		return nil // one that takes no part need not be believed
	case j.roster.Decided:
		return refuse(protocol.AttemptFenced, "job %v runs without %s, and this attempt of rank %d has heard that it is without %s",
			j.id, protocol.RanksOrNone(j.roster.Excluded(j.total)), f.RankOrNone(), protocol.RanksOrNone(f.Members.Excluded(j.total)))
	}
	if missing := f.Members.Excluded(j.total); j.mixed() && len(missing) > 0 {
		return refuse(protocol.RankHeld, "vw workers are in job %v: it cannot be without %s", j.id, protocol.Ranks(missing))
	}
	m.decideRoster(j, f.Members)
	m.advance(j)
	return nil
}

// elasticReport says when a job that fills starts without the ranks that are missing, or
// that it does.
func (j *job) elasticReport(now time.Time) string {
	switch missing := j.roster.Excluded(j.total); {
	case j.startWithin == 0 || j.mixed():
		return ""
	case j.roster.Decided && len(missing) > 0:
		return fmt.Sprintf("; it starts without %s", protocol.Ranks(missing))
	case j.roster.Decided:
		return ""
	}
	left := j.startWithin
	if !j.began.IsZero() {
		left = max(0, left-now.Sub(j.began))
	}
	return fmt.Sprintf("; in %v it starts without those", left.Round(time.Second))
}
