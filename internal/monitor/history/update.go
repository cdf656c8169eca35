// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// update takes over a newer status of a job.
func (j *Job) update(at time.Time, s *protocol.JobStatus) {
	now := max(j.Now, at.Sub(j.Opened))
	was := j.Status
	ranks := s.Ranks
	j.Now, j.Status = now, *s
	j.Status.Ranks = nil
	if s.Refused > was.Refused {
		j.event(now, Refused, -1, "%s", s.Refusal)
	}
	if s.Found != nil && (was.Found == nil || *s.Found != *was.Found) {
		j.event(now, Found, s.Found.Rank, "cause: %s", s.Found.Line)
	}
	if len(ranks) == 0 && s.Joined > 0 {
		// A server leaves the ranks out of an answer that would be too long.
		j.phaseEvents(now, &was)
		return
	}
	by := make([]*protocol.RankStatus, len(j.Ranks))
	j.Others = j.Others[:0]
	for i := range ranks {
		r := &ranks[i]
		if r.Rank < 0 || r.Rank >= len(by) || r.State == "standby" || r.State == "spare" {
			j.Others = append(j.Others, *r)
			continue
		}
		by[r.Rank] = r
	}
	of := func(rank int) *protocol.RankStatus {
		if rank < 0 || rank >= len(by) {
			return nil
		}
		return by[rank]
	}
	var first []int // ranks that have joined for the first time
	limit := j.spans()
	for i := range j.Ranks {
		r, status := &j.Ranks[i], by[i]
		if j.hold(r, now, status) {
			first = append(first, i)
		}
		switch {
		case status != nil:
			phase, waitsFor := phaseOf(s, status, of)
			r.enter(now, phase, waitsFor, limit)
			if status.Examples > 0 || status.Steps > 0 {
				r.Loss.add(Point{now, status.Examples, status.Loss, status.Pass, status.Steps, status.Holdout})
			}
		case slices.Contains(s.Removed, i):
			r.enter(now, Removed, -1, limit)
		default:
			r.enter(now, Absent, -1, limit)
		}
	}
	if n := len(first); n == 1 {
		j.event(now, Joined, first[0], "%s has joined (attempt 1)", j.at(first[0]))
	} else if n > 1 { // one event, since thousands may join at once
		j.event(now, Joined, -1, "%s have joined", protocol.Ranks(first))
	}
	j.phaseEvents(now, &was)
	if p, ok := j.mean(now); ok {
		j.Loss.add(p)
	}
}

// hold takes over the newest status of a rank, and notes its losses and later attempts. status is nil
// if no attempt holds the rank. It reports whether this is the first attempt.
func (j *Job) hold(r *Rank, now time.Duration, status *protocol.RankStatus) (first bool) {
	if status == nil {
		if r.Present {
			r.Present = false
			removed := slices.Contains(j.Status.Removed, r.Status.Rank)
			if j.Status.State == "ending" && r.Status.State == "complete" {
				return false // it has ended before the others
			}
			if removed {
				r.mark(now, Left)
				j.event(now, Left, r.Status.Rank, "the job continues without %s", j.at(r.Status.Rank))
			} else {
				r.mark(now, Lost)
				j.event(now, Lost, r.Status.Rank, "lost %s%s", j.at(r.Status.Rank), j.why(r.Status.Rank))
			}
		}
		return false
	}
	same := r.Attempts > 0 && r.Status.Attempt == status.Attempt && (status.Attempt != 0 || r.Status.Address == status.Address || r.Status.Address == "")
	if !same {
		if r.Present {
			r.mark(now, Lost)
			j.event(now, Lost, status.Rank, "lost %s%s", j.at(status.Rank), j.why(status.Rank))
		}
		r.Attempts++
		if r.Attempts > 1 {
			r.mark(now, Joined)
		}
	}
	back := same && !r.Present
	r.count(now, status.Traffic, same)
	r.Status, r.Present = *status, true
	switch {
	case back:
		r.mark(now, Joined)
		j.event(now, Joined, status.Rank, "%s has reconnected", j.at(status.Rank))
	case !same && r.Attempts > 1:
		j.event(now, Joined, status.Rank, "%s has joined (attempt %d)", j.at(status.Rank), r.Attempts)
	}
	return r.Attempts == 1 && !same
}

// why returns the cause of the loss of a rank as the end of a sentence, or "" if the server has not
// given it.
func (j *Job) why(rank int) string {
	if l := j.Status.LastLoss; l != nil && l.Rank == rank {
		return ": " + l.Why
	}
	return ""
}

// phaseEvents notes the beginnings and ends of epochs.
func (j *Job) phaseEvents(now time.Duration, was *protocol.JobStatus) {
	s := &j.Status
	if s.State == "recovering" && was.State != "recovering" {
		j.event(now, Recover, -1, "recovering: %s", s.Report)
	}
	if s.Epoch != was.Epoch && was.Epoch != "" && s.State != "recovering" && was.State != "recovering" {
		j.event(now, Recover, -1, "epoch %s has ended", was.Epoch) // between two snapshots
	}
	if s.Epoch != was.Epoch && s.State != "recovering" && s.Epoch != "" {
		j.event(now, Wired, -1, "epoch %s has begun with %d ranks", s.Epoch, s.Joined)
	}
}

// mean returns the progress of the whole job; false: no rank has reported any.
func (j *Job) mean(now time.Duration) (Point, bool) {
	p, sum, first, newest := Point{At: now}, 0.0, true, uint32(0)
	for i := range j.Ranks {
		r := &j.Ranks[i]
		if !r.Present || r.Status.Examples == 0 && r.Status.Steps == 0 {
			continue
		}
		s := &r.Status
		p.Examples += s.Examples
		sum += s.Loss * float64(s.Examples)
		if s.Holdout != 0 && (p.Holdout == 0 || s.Pass >= newest) {
			p.Holdout, newest = s.Holdout, s.Pass // all ranks that have ended the same pass report the same
		}
		if first || s.Pass < p.Pass {
			p.Pass = s.Pass
		}
		if first || s.Steps < p.Steps {
			p.Steps = s.Steps
		}
		first = false
	}
	if p.Examples > 0 {
		p.Loss = sum / float64(p.Examples)
	}
	return p, !first
}
