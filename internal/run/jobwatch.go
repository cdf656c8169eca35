// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const (
	// pollInterval is the time between two polls of the server.
	pollInterval = 200 * time.Millisecond
	// hungAfter is the time without a connection to the server after which the process of a
	// rank is considered hung. Workers reconnect once a second.
	hungAfter = 2 * time.Second
)

// jobWatch polls a local job in its server. It reports whether the job continues, and finds
// ranks that the server has lost although their process still exists, for example because
// it was stopped. The server is in this process, so a poll is a function call.
type jobWatch struct {
	status func() protocol.ServerStatus
	id     uint64   // UniqueID of the job
	hung   chan int // ranks to be killed
	kills  chan launch.Kill
	idle   chan int // processes that have nothing left to do: ranks, then spares
	missed chan int // ranks that the job needs to end, although continuesWithout was true
	// show is called by follow with each status of the job; nil: no call.
	show func(job *protocol.JobStatus, now time.Time)

	mu     sync.Mutex
	seen   bool   // the server has had the job
	onLoss string // its loss policy; "": abort
	wired  bool   // the job has left the state "filling", in which the loss of all ranks removes it
	failed bool   // the job has ended by a failure
	ranks  []presence
	spared []bool    // by rank: continuesWithout was true
	gone   time.Time // time at which the job was missing first; zero: the server has it
}

// presence is the connection of a rank's process to the server.
type presence struct {
	known bool      // it has been connected since it started
	since time.Time // time of the loss of the connection; zero: it is connected
}

// newJobWatch returns the watch of the job with a unique ID. Each channel has room for a report
// on every process, so that a poll never blocks.
func newJobWatch(status func() protocol.ServerStatus, id uint64, workers, spares int) *jobWatch {
	return &jobWatch{
		status: status, id: id,
		hung: make(chan int, workers), kills: make(chan launch.Kill), idle: make(chan int, workers+spares), missed: make(chan int, workers),
		ranks: make([]presence, workers), spared: make([]bool, workers),
	}
}

// follow polls until ctx ends.
func (w *jobWatch) follow(ctx context.Context) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			if job := w.poll(now); job != nil && w.show != nil {
				w.show(job, now)
			}
		}
	}
}

// mayContinue reports whether the job may still succeed after a worker has ended: it has not
// started, or it is running. symptom is true if the worker has reported a failure of the job; a
// job that fills now is then a new one, of attempts that came too late.
func (w *jobWatch) mayContinue(symptom bool) bool {
	// The counter of finished jobs survives the removal of the job.
	if w.finished() {
		return false // also a job that was too short to be seen
	}
	job := w.poll(time.Now())
	w.mu.Lock()
	defer w.mu.Unlock()
	if symptom && (job == nil || job.State == "filling") || w.wired && job == nil {
		w.failed = true
	}
	return !w.failed
}

// continuesWithout reports whether a job with --on_loss shrink continues without a rank, now or
// soon. It does not while it fills, nor when the rank owes files. The other ranks may finish
// before the server has decided; then the rank is reported on missed.
func (w *jobWatch) continuesWithout(rank int) bool {
	job := w.poll(time.Now())
	if job == nil {
		return w.finished()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	// The collectives of a job with --malt that grows are wired after the passes.
	will := job.State == "wired" || job.State == "recovering" || w.onLoss == protocol.Open.String()
	w.spared[rank] = will
	return will || slices.Contains(job.Removed, rank)
}

// removed reports whether the job has continued without a rank. Another attempt would only be a
// standby.
func (w *jobWatch) removed(rank int) bool {
	job := w.poll(time.Now())
	return job != nil && job.OnLoss != protocol.Grow.String() && slices.Contains(job.Removed, rank)
}

// started records that a rank has a new process, or will have one. Spares are not watched.
func (w *jobWatch) started(rank int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if rank < len(w.ranks) {
		w.ranks[rank] = presence{}
	}
}

// poll returns the job as the server has it, or nil, and reports ranks that hang.
func (w *jobWatch) poll(now time.Time) *protocol.JobStatus {
	job := w.find()
	w.mu.Lock()
	defer w.mu.Unlock()
	if job == nil {
		w.forgotten(now)
		return nil
	}
	w.seen, w.onLoss, w.gone = true, job.OnLoss, time.Time{}
	// wired stays true: a job that is filling later is another one with the same number.
	w.wired = w.wired || job.State != "filling"
	here := make([]bool, len(w.ranks))
	for _, r := range job.Ranks {
		if r.Rank >= 0 && r.Rank < len(here) {
			here[r.Rank] = true
		}
	}
	for rank := range w.ranks {
		p := &w.ranks[rank]
		switch {
		case here[rank]:
			*p = presence{known: true}
		case !p.known:
		case p.since.IsZero():
			p.since = now
		case now.Sub(p.since) >= hungAfter:
			*p = presence{}
			select {
			case w.hung <- rank:
			default: // it has been reported
			}
		}
	}
	for _, rank := range job.Vacant {
		if job.State == "ending" && w.spared[rank] {
			w.spared[rank] = false
			select {
			case w.missed <- rank:
			default: // one is enough
			}
		}
	}
	return job
}

// finished reports whether the job has succeeded. The server remembers no other one, but that of the shared vectors of
// --malt, which ends before.
func (w *jobWatch) finished() bool {
	st := w.status()
	n := st.Finished
	for _, e := range st.Ended {
		if e.UniqueID != w.id && e.Outcome == "finished" {
			n--
		}
	}
	return n > 0
}

// forgotten handles a job that the server does not have. Workers of an ended job end, too; a
// paused process must be resumed for that. The caller holds the lock.
func (w *jobWatch) forgotten(now time.Time) {
	switch {
	case !w.seen && !w.finished():
	case w.gone.IsZero():
		w.gone = now
	case now.Sub(w.gone) >= hungAfter:
		w.gone = now
		for rank := range cap(w.idle) {
			select {
			case w.idle <- rank:
			default: // it has been reported
			}
		}
	}
}

// found returns the cause that the server has found for the end of the newest job; nil: none. The server has only this
// job, and that of the shared vectors of --malt.
func (w *jobWatch) found() *protocol.FoundCause {
	for _, e := range slices.Backward(w.status().Ended) {
		if e.Found != nil {
			return e.Found
		}
	}
	return nil
}

// find returns the job in the server, or nil.
func (w *jobWatch) find() *protocol.JobStatus {
	s := w.status()
	for i := range s.Jobs {
		if s.Jobs[i].UniqueID == w.id {
			return &s.Jobs[i]
		}
	}
	return nil
}
