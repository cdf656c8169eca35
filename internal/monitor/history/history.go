// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// History keeps the jobs of a server. [New] makes one.
type History struct {
	cfg    Config
	jobs   []*Job // oldest first
	number int
	ended  protocol.EndedJob // the newest one of the last snapshot
}

// New returns an empty history. It panics if the configuration is invalid.
func New(cfg Config) *History {
	if err := cfg.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	return &History{cfg: cfg.withDefaults()}
}

// Jobs returns all jobs, oldest first.
func (h *History) Jobs() []*Job { return h.jobs }

// Job returns the job with a number, or nil.
func (h *History) Job(number int) *Job {
	i, found := slices.BinarySearchFunc(h.jobs, number, func(j *Job, n int) int { return cmp.Compare(j.Number, n) })
	if !found {
		return nil
	}
	return h.jobs[i]
}

// Previous returns the newest job that ended before j was opened and has its name: its run key, else
// its number, else its options and number of ranks. It returns nil if there is none with a curve.
func (h *History) Previous(j *Job) *Job {
	same := []func(o *Job) bool{
		func(o *Job) bool { return j.ID.RunKey != "" && o.ID.RunKey == j.ID.RunKey },
		func(o *Job) bool { return o.ID.UniqueID == j.ID.UniqueID },
		func(o *Job) bool {
			return j.Status.Options != "" && o.Status.Options == j.Status.Options && o.Status.Total == j.Status.Total
		},
	}
	for _, is := range same {
		for _, o := range slices.Backward(h.jobs) {
			if o.Number < j.Number && o.Ended != nil && len(o.Loss.Points) > 0 && is(o) {
				return o
			}
		}
	}
	return nil
}

// Add adds a snapshot. Snapshots must be in the order of their times.
func (h *History) Add(at time.Time, s protocol.ServerStatus) {
	fresh := h.freshlyEnded(s.Ended)
	here := make(map[ID]bool, len(s.Jobs))
	for i := range s.Jobs {
		js := &s.Jobs[i]
		id := ID{js.UniqueID, js.RunKey, js.Generation}
		j := h.running(id)
		if j != nil && js.Seconds+0.001 < j.Status.Seconds { // another job with the same name
			h.end(j, at, takeEnded(&fresh, id))
			j = nil
		}
		if j == nil {
			j = h.open(id, at.Add(-seconds(js.Seconds)), js.Total)
			j.event(0, Opened, -1, "opened for %d ranks", js.Total)
		}
		here[id] = true
		j.update(at, js)
	}
	for _, j := range slices.Clone(h.jobs) {
		if j.Ended == nil && !here[j.ID] {
			h.end(j, at, takeEnded(&fresh, j.ID))
		}
	}
	h.explain(s.Ended)
	for i := range fresh { // jobs that no snapshot has shown
		e := &fresh[i]
		j := h.open(ID{e.UniqueID, e.RunKey, e.Generation}, e.Ended.Add(-seconds(e.Seconds)), 0)
		j.Status.Total = e.Total
		h.end(j, e.Ended, e)
	}
	h.trim()
}

// explain adds the causes that the server has found after the ends of jobs. Only jobs that have just ended lack one.
func (h *History) explain(ended []protocol.EndedJob) {
	for _, e := range slices.Backward(ended) {
		if h.ended.Ended.Sub(e.Ended) > foundWithin {
			return
		}
		for _, j := range slices.Backward(h.jobs) {
			if e.Found != nil && j.Ended != nil && j.Ended.Found == nil && e.Same(*j.Ended) {
				j.Ended.Found = e.Found
				j.event(j.Now, Found, e.Found.Rank, "cause: %s", e.Found.Line)
			}
		}
	}
}

// foundWithin is more than the time after the end of a job in which its cause is found.
const foundWithin = 5 * time.Second

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// freshlyEnded returns the jobs that have ended since the last snapshot, oldest first.
func (h *History) freshlyEnded(ended []protocol.EndedJob) []protocol.EndedJob {
	if len(ended) == 0 {
		return nil
	}
	n := len(ended)
	for n > 0 && !ended[n-1].Same(h.ended) {
		n--
	}
	h.ended = ended[len(ended)-1]
	fresh := slices.Clone(ended[n:])
	return fresh[max(0, len(fresh)-h.cfg.Jobs):]
}

// takeEnded removes the oldest record of a job from a list and returns it; nil: there is none.
func takeEnded(fresh *[]protocol.EndedJob, id ID) *protocol.EndedJob {
	i := slices.IndexFunc(*fresh, func(e protocol.EndedJob) bool { return ID{e.UniqueID, e.RunKey, e.Generation} == id })
	if i < 0 {
		return nil
	}
	e := (*fresh)[i]
	*fresh = slices.Delete(*fresh, i, i+1)
	return &e
}

// running returns the job with an ID that has not ended, or nil.
func (h *History) running(id ID) *Job {
	for _, j := range slices.Backward(h.jobs) {
		if j.ID == id && j.Ended == nil {
			return j
		}
	}
	return nil
}

// open adds a job.
func (h *History) open(id ID, opened time.Time, total int) *Job {
	h.number++
	j := &Job{ID: id, Number: h.number, Opened: opened, cfg: h.cfg, Ranks: make([]Rank, max(total, 0)), Loss: Curve{limit: h.cfg.Points}}
	for i := range j.Ranks {
		j.Ranks[i].Status.Rank = i
		j.Ranks[i].Loss.limit = share(64*h.cfg.Points, total, 8, h.cfg.Points)
	}
	h.jobs = append(h.jobs, j)
	return j
}

// end ends a job. Without a record the server has forgotten how it ended.
func (h *History) end(j *Job, at time.Time, e *protocol.EndedJob) {
	if e == nil {
		e = &protocol.EndedJob{UniqueID: j.ID.UniqueID, RunKey: j.ID.RunKey, Generation: j.ID.Generation, Outcome: "unknown", Rank: -1, Total: j.Status.Total, Ended: at}
	}
	j.Ended, j.Now = e, max(j.Now, at.Sub(j.Opened))
	text := e.Outcome
	switch {
	case strings.HasPrefix(e.Cause, text):
		text = e.Cause // "cancelled: …"
	case e.Cause != "":
		text += ": " + e.Cause
	}
	last := Absent
	if e.Outcome == "finished" {
		last = Complete
	}
	for i := range j.Ranks {
		if r := &j.Ranks[i]; r.Phase() != Complete && r.Phase() != Removed {
			r.enter(j.Now, last, -1, j.spans())
		}
	}
	j.event(j.Now, JobEnded, e.Rank, "%s", text)
	if e.Found != nil {
		j.event(j.Now, Found, e.Found.Rank, "cause: %s", e.Found.Line)
	}
	j.Others = nil
}

// trim drops jobs above the limit: ended ones first, then the oldest.
func (h *History) trim() {
	for len(h.jobs) > h.cfg.Jobs {
		i := max(0, slices.IndexFunc(h.jobs, func(j *Job) bool { return j.Ended != nil }))
		h.jobs = slices.Delete(h.jobs, i, i+1)
	}
}
