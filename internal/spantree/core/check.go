// SPDX-License-Identifier: Apache-2.0

package core

import (
	"reflect"

	"github.com/gvw-project/gvw/internal/invariant"
	"github.com/gvw-project/gvw/internal/spantree/history"
)

const (
	checkedWhole = 64 // connections up to which the machine is checked after every event
	checkedEvery = 64 // with more connections, the events of which one is followed by a check
)

// checkStep checks the machine after an event, in builds that check invariants. A check
// visits all ranks, so a large machine is checked after some of its events only.
func (m *Machine) checkStep() {
	if m.steps++; len(m.Conns) <= checkedWhole || m.steps%checkedEvery == 0 {
		m.check()
	}
}

// check panics unless the machine's counters, lists and maps agree with each other, as
// they do between any two events.
func (m *Machine) check() {
	if len(m.endings) > history.MaxJobs {
		invariant.Fail("spantree: %d ended jobs are kept, limit %d", len(m.endings), history.MaxJobs)
	}
	if len(m.order) != len(m.jobs) {
		invariant.Fail("spantree: %d jobs in order, %d by name", len(m.order), len(m.jobs))
	}
	attempts := 0
	for _, j := range m.order {
		m.checkHolders(j)
		m.checkSpares(j)
		m.checkStandbys(j)
		switch {
		case m.jobs[j.id] != j:
			invariant.Fail("spantree: job %v is registered under another name", j.id)
		case j.phase == failed:
			invariant.Fail("spantree: job %v has failed and is still registered", j.id)
		case len(j.links.asks) > j.total || len(j.links.charges) > maxCharges || len(j.evictions.attempts) > maxEvicted || len(j.losses.vacant) > j.total || len(j.losses.leases) > j.total:
			invariant.Fail("spantree: job %v of %d ranks exceeds a limit: %d asks, %d charges, %d evicted attempts, %d vacant ranks, %d leases",
				j.id, j.total, len(j.links.asks), len(j.links.charges), len(j.evictions.attempts), len(j.losses.vacant), len(j.losses.leases))
		case j.phase != ending && !reflect.ValueOf(j.finish).IsZero():
			invariant.Fail("spantree: job %v is %v and has the state of an end: %+v", j.id, j.phase, j.finish)
		case j.phase != filling && j.fill != fillState{}:
			invariant.Fail("spantree: job %v is %v and has the state of its filling: %+v", j.id, j.phase, j.fill)
		case len(j.holders) == 0 && len(j.spares) == 0 && j.finish.receipt == 0 && j.phase != recovering && !m.inGracePeriod(j):
			invariant.Fail("spantree: job %v has no members", j.id)
		}
		attempts += len(j.attempts())
	}
	if attempts != len(m.Conns) {
		invariant.Fail("spantree: %d connections, %d of them in jobs", len(m.Conns), attempts)
	}
}

// checkHolders checks the holders of a job's ranks, and what the job counts of them.
func (m *Machine) checkHolders(j *job) {
	var native, ready, completed, owed, unanswered int
	for r, a := range j.holders {
		if a.rank != r || a.job != j || r < 0 || r >= j.total || m.Conns[a.conn] != a || !a.isHolder {
			invariant.Fail("spantree: job %v: the holder of rank %d is inconsistent: %+v", j.id, r, *a)
		}
		native += one(!a.vw)
		ready += one(a.ready)
		completed += one(a.complete)
		owed += len(a.owed)
		unanswered += one(a.endSent && !a.answered)
	}
	if len(j.inOrder) != len(j.holders) {
		invariant.Fail("spantree: job %v has %d holders, %d of them in order", j.id, len(j.holders), len(j.inOrder))
	}
	for i, a := range j.inOrder {
		if j.holders[a.rank] != a || i > 0 && j.inOrder[i-1].rank >= a.rank {
			invariant.Fail("spantree: job %v: holder %d in order is rank %d, which is out of order or no holder", j.id, i, a.rank)
		}
	}
	switch {
	case native != j.native || ready != j.ready:
		invariant.Fail("spantree: job %v counts %d native and %d ready members, it has %d and %d", j.id, j.native, j.ready, native, ready)
	case completed != j.finish.completed || owed != j.finish.owed:
		invariant.Fail("spantree: job %v counts %d complete members that owe %d files, it has %d and %d", j.id, j.finish.completed, j.finish.owed, completed, owed)
	case unanswered != j.lastEnd.unanswered:
		invariant.Fail("spantree: job %v counts %d members that have not answered, it has %d", j.id, j.lastEnd.unanswered, unanswered)
	}
}

// checkSpares checks the attempts without a rank. A spare never waits beside a free rank.
func (m *Machine) checkSpares(j *job) {
	for _, a := range j.spares {
		if a.rank != -1 || a.job != j || a.isHolder || m.Conns[a.conn] != a || len(j.spares) > maxSpares {
			invariant.Fail("spantree: job %v: a spare is inconsistent: %+v", j.id, *a)
		}
	}
	if len(j.spares) == 0 || m.inGracePeriod(j) {
		return
	}
	left := sortedRanks(j.losses.vacant)
	if j.phase == filling {
		left = sortedRanks(j.departed)
	}
	for _, r := range left {
		if j.free(r) {
			invariant.Fail("spantree: job %v: rank %d is free, and there is a spare", j.id, r)
		}
	}
}

// checkStandbys checks the attempts of ranks that other attempts hold.
func (m *Machine) checkStandbys(j *job) {
	for r, all := range j.standbys {
		for _, a := range all {
			if a.rank != r || a.job != j || a.isHolder || m.Conns[a.conn] != a {
				invariant.Fail("spantree: job %v: a standby of rank %d is inconsistent: %+v", j.id, r, *a)
			}
		}
		if j.holders[r] == nil && j.free(r) || len(all) == 0 || len(all) > maxStandbys+1 {
			invariant.Fail("spantree: job %v: rank %d has %d standbys, and the holder %v", j.id, r, len(all), j.holders[r])
		}
	}
}

// one returns 1 for true.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
