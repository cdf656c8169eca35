// SPDX-License-Identifier: Apache-2.0

package core

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// onStatus answers STATUS with JOBS, the only frame of its connection.
func (m *Machine) onStatus(ev StatusRequested) {
	m.do(SendFrame{ev.Conn, &protocol.JobsFrame{JSON: m.statusJSON()}})
	m.do(CloseConn(ev))
}

// statusJSON returns the status in JSON. If it exceeds the limit of a frame, it omits the ended jobs,
// then the ranks, and then shortens the options.
func (m *Machine) statusJSON() string {
	s := m.Status()
	each := func(shorten func(*protocol.JobStatus)) {
		for i := range s.Jobs {
			shorten(&s.Jobs[i])
		}
	}
	for _, shorten := range []func(){
		func() {},
		func() { s.Ended = nil },
		func() { each(func(j *protocol.JobStatus) { j.Ranks = nil }) },
		func() { each(func(j *protocol.JobStatus) { j.Options = protocol.Clip(j.Options, 100) }) },
	} {
		shorten()
		text, err := json.Marshal(s)
		if err != nil {
			panic("BUG: spantree: a ServerStatus is no JSON: " + err.Error())
		}
		if len(text) <= protocol.MaxPayload-4 {
			return string(text)
		}
	}
	return "{}"
}

// Status returns the jobs of the server, oldest first.
func (m *Machine) Status() protocol.ServerStatus {
	s := protocol.ServerStatus{Version: m.Version, Term: m.Term, Draining: m.draining, Finished: m.finished.Len(), Journal: m.broken, Jobs: []protocol.JobStatus{}, Ended: slices.Clone(m.endings)}
	for _, j := range m.order {
		js := protocol.JobStatus{
			UniqueID: j.id.UniqueID, RunKey: j.id.RunKey, Generation: j.generation, State: j.phase.String(), Report: j.describe(m.Now),
			VW: j.vwStream || j.mixed(), Total: j.total, Joined: len(j.holders), Seconds: m.Now.Sub(j.created).Seconds(), Options: j.options,
		}
		if j.epoch != (protocol.Epoch{}) {
			js.Epoch = j.epoch.String()
		}
		js.Spares, js.Refused, js.Refusal = len(j.spares), j.refusals.count, j.refusals.newest
		if j.policy != protocol.Abort {
			js.OnLoss = j.policy.String()
			js.Removed = sortedRanks(j.removed)
			js.Vacant = slices.DeleteFunc(sortedRanks(j.losses.vacant), func(r int) bool { return j.holders[r] != nil })
		}
		for _, a := range j.everybody() {
			js.Ranks = append(js.Ranks, a.status(m.Now))
			if !a.isHolder && a.rank >= 0 {
				js.Standbys++
			}
		}
		s.Jobs = append(s.Jobs, js)
	}
	return s
}

// status returns the part of a status about one attempt.
func (a *attempt) status(now time.Time) protocol.RankStatus {
	r := protocol.RankStatus{
		Rank: a.rank, Attempt: a.number, Host: a.host, Version: a.version, VW: a.vw, State: "joined", Waits: a.waitText,
		Pass: a.progress.Pass, Step: a.progress.Step, Steps: a.progress.Number, Examples: a.progress.Examples, Loss: a.progress.Loss,
	}
	if math.IsNaN(r.Loss) || math.IsInf(r.Loss, 0) {
		r.Loss = 0 // JSON cannot represent these numbers
	}
	if a.hasPort {
		r.Address = protocol.HostPort(a.job.addressOf(a, ""), a.port)
	}
	switch {
	case a.rank < 0:
		r.State = "spare"
	case !a.isHolder:
		r.State = "standby"
	case a.complete:
		r.State = "complete"
	case a.ready || a.vw:
		r.State = "ready"
	}
	if !a.vw {
		r.Silent = now.Sub(a.lastFrame).Seconds()
	}
	return r
}

// JobBytes is the memory that a job is counted with, in bytes, in addition to its texts and its
// members. It covers maps, charges and evictions, whose sizes are bounded.
const JobBytes = 8 << 10

// MemoryUse returns the memory that clients occupy in the machine, in bytes, as the server's limit
// counts it.
func (m *Machine) MemoryUse() (n int64) {
	n = m.finished.Bytes()
	for _, j := range m.order {
		n += JobBytes + int64(len(j.options)+len(j.id.RunKey)+len(j.waitReport.text))
		for _, f := range j.finish.files {
			n += protocol.FileBytes + int64(len(f.File))
		}
		for _, a := range j.everybody() {
			n += a.memoryUse()
		}
	}
	return n
}

// memoryUse returns the memory that an attempt is counted with, in bytes.
func (a *attempt) memoryUse() int64 {
	n := protocol.MemberBytes + int64(len(a.host)+len(a.advertise)+len(a.version)+len(a.waitText)+len(a.reported.report))
	for _, f := range a.owed {
		n += protocol.FileBytes + int64(len(f))
	}
	return n
}
