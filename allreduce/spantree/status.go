// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// ServerStatus is what a server knows about its jobs. As JSON it is the
// answer to STATUS: fields may be added, never renamed.
type ServerStatus struct {
	Version  string      `json:"version"`
	Term     uint32      `json:"term"`
	Draining bool        `json:"draining"`
	Finished int         `json:"finished"`          // runs remembered
	Journal  string      `json:"journal,omitempty"` // why no record reaches it any more; "": they do, or there is none
	Jobs     []JobStatus `json:"jobs"`              // oldest first
	Ended    []EndedJob  `json:"ended,omitempty"`   // the newest 1000 of the last FinishedAge, oldest first
}

// JobStatus is a job in a ServerStatus.
type JobStatus struct {
	UniqueID   uint64       `json:"unique_id"`
	RunKey     string       `json:"run_key,omitempty"`
	Generation uint32       `json:"generation"`
	State      string       `json:"state"` // filling, wired, recovering, ending
	Report     string       `json:"report"`
	Epoch      string       `json:"epoch,omitempty"`
	VW         bool         `json:"vw"` // vw's stream is spoken
	Total      int          `json:"total"`
	Joined     int          `json:"joined"`
	Standbys   int          `json:"standbys,omitempty"` // attempts of ranks that another one holds
	Spares     int          `json:"spares,omitempty"`   // attempts without a rank
	OnLoss     string       `json:"on_loss,omitempty"`  // wait, shrink; "": abort
	Removed    []int        `json:"removed,omitempty"`  // ranks that the job goes on without
	Vacant     []int        `json:"vacant,omitempty"`   // ranks that were lost, and that somebody must replace
	Refused    int          `json:"refused,omitempty"`  // attempts that do not agree with the others
	Refusal    string       `json:"refusal,omitempty"`  // why the last of them was
	Seconds    float64      `json:"seconds"`            // since it was opened
	Options    string       `json:"options,omitempty"`
	Ranks      []RankStatus `json:"ranks,omitempty"` // left out when the answer would be too long
}

// RankStatus is a member of a job in a JobStatus.
type RankStatus struct {
	Rank     int     `json:"rank"` // -1: a spare
	Attempt  uint64  `json:"attempt,omitempty"`
	Host     string  `json:"host"`
	Address  string  `json:"address,omitempty"` // of its data listener
	Version  string  `json:"version,omitempty"`
	VW       bool    `json:"vw,omitempty"`
	State    string  `json:"state"` // joined, ready, complete, standby, spare
	Silent   float64 `json:"silent_seconds"`
	Waits    string  `json:"waits,omitempty"`
	Pass     uint32  `json:"pass"`
	Step     string  `json:"step,omitempty"`
	Steps    uint64  `json:"steps"`
	Examples uint64  `json:"examples"`
	Loss     float64 `json:"loss"`
}

func (m *machine) onStatus(ev asked) {
	m.do(sendFrame{ev.conn, &jobsFrame{JSON: m.statusJSON()}})
	m.do(hangUp(ev))
}

// statusJSON is the status as one frame can hold it.
func (m *machine) statusJSON() string {
	s := m.status()
	each := func(shorten func(*JobStatus)) {
		for i := range s.Jobs {
			shorten(&s.Jobs[i])
		}
	}
	for _, shorten := range []func(){
		func() {},
		func() { s.Ended = nil },
		func() { each(func(j *JobStatus) { j.Ranks = nil }) },
		func() { each(func(j *JobStatus) { j.Options = clip(j.Options, 100) }) },
	} {
		shorten()
		text, err := json.Marshal(s)
		if err != nil {
			panic("BUG: spantree: a ServerStatus is no JSON: " + err.Error())
		}
		if len(text) <= bigFrame-4 {
			return string(text)
		}
	}
	return "{}"
}

func (m *machine) status() ServerStatus {
	s := ServerStatus{Version: m.version, Term: m.term, Draining: m.draining, Finished: len(m.finished.by), Journal: m.broken, Jobs: []JobStatus{}, Ended: slices.Clone(m.endings)}
	for _, j := range m.order {
		js := JobStatus{
			UniqueID: j.id.UniqueID, RunKey: j.id.RunKey, Generation: j.generation, State: j.state.String(), Report: j.describe(m.now),
			VW: j.streams || j.mixed(), Total: j.total, Joined: len(j.seats), Seconds: m.now.Sub(j.created).Seconds(), Options: j.options,
		}
		if j.epoch != (Epoch{}) {
			js.Epoch = j.epoch.String()
		}
		js.Spares, js.Refused, js.Refusal = len(j.spares), j.refused, j.refusal
		if j.policy != lossAbort {
			js.OnLoss = j.policy.String()
			js.Removed = sortedRanks(j.removed)
			js.Vacant = slices.DeleteFunc(sortedRanks(j.vacant), func(r int) bool { return j.seats[r] != nil })
		}
		for _, a := range j.everybody() {
			js.Ranks = append(js.Ranks, a.status(m.now))
			if !a.seated && a.rank >= 0 {
				js.Standbys++
			}
		}
		s.Jobs = append(s.Jobs, js)
	}
	return s
}

func (a *attempt) status(now time.Time) RankStatus {
	r := RankStatus{
		Rank: a.rank, Attempt: a.number, Host: a.host, Version: a.version, VW: a.vw, State: "joined", Waits: a.waits,
		Pass: a.progress.Pass, Step: a.progress.Step, Steps: a.progress.Number, Examples: a.progress.Examples, Loss: a.progress.Loss,
	}
	if math.IsNaN(r.Loss) || math.IsInf(r.Loss, 0) {
		r.Loss = 0 // JSON has no such numbers
	}
	if a.hasPort {
		r.Address = hostPort(a.job.addressOf(a, ""), a.port)
	}
	switch {
	case a.rank < 0:
		r.State = "spare"
	case !a.seated:
		r.State = "standby"
	case a.complete:
		r.State = "complete"
	case a.ready || a.vw:
		r.State = "ready"
	}
	if !a.vw {
		r.Silent = now.Sub(a.heard).Seconds()
	}
	return r
}
