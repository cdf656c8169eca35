// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const (
	// lookEvery is how often the launcher looks at its job in the server.
	lookEvery = 200 * time.Millisecond
	// hungAfter is how long a rank may be without a connection to the server, having
	// had one, before its process is taken for hung. Workers reconnect once a second.
	hungAfter = 2 * time.Second
)

// jobWatch follows a local job in its server: whether it goes on, and whether a rank
// that the server has given up still has a process, which somebody has stopped.
type jobWatch struct {
	status func() protocol.ServerStatus
	id     uint64   // of the job
	hung   chan int // ranks to be killed
	idle   chan int // processes that have nothing to do any more: ranks, then spares
	missed chan int // ranks that the job cannot end without, although without has said so

	mu     sync.Mutex
	seen   bool // the server has known the job
	wired  bool // it was seen in another state than filling: one that fills is forgotten when its last rank dies
	failed bool // and knows it no more
	ranks  []presence
	spared []bool    // by rank: the job was to go on without it
	gone   time.Time // since when the server knows it no more; zero: it does
}

// presence is whether the process of a rank is connected to the server.
type presence struct {
	known bool      // it was, since it started
	since time.Time // since when it is not; zero: it is
}

func newJobWatch(status func() protocol.ServerStatus, id uint64, workers, spares int) *jobWatch {
	return &jobWatch{
		status: status, id: id,
		hung: make(chan int, workers), idle: make(chan int, workers+spares), missed: make(chan int, workers),
		ranks: make([]presence, workers), spared: make([]bool, workers),
	}
}

// follow looks until ctx ends.
func (w *jobWatch) follow(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			w.look(now)
		}
	}
}

// goesOn says whether the job may still end well, after a worker has ended: it was not
// there yet, or it is. symptom: the worker says that the job has failed, so what
// fills now is another job, of attempts that came too late to hear of it.
func (w *jobWatch) goesOn(symptom bool) bool {
	if w.finished() {
		return false // also where it was too short to be seen
	}
	job := w.look(time.Now())
	w.mu.Lock()
	defer w.mu.Unlock()
	if symptom && (job == nil || job.State == "filling") || w.wired && job == nil {
		w.failed = true
	}
	return !w.failed
}

// without says whether a job whose ranks go on without lost ones does so, or will. Before it
// runs, and when files are owed, it does not. Others may come to the end before the server has
// decided: then the rank is missed after all.
func (w *jobWatch) without(rank int) bool {
	job := w.look(time.Now())
	if job == nil {
		return w.finished()
	}
	will := job.State == "wired" || job.State == "recovering"
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spared[rank] = will
	return will || slices.Contains(job.Removed, rank)
}

// removed says whether the job has gone on without a rank: another attempt would only
// stand by.
func (w *jobWatch) removed(rank int) bool {
	job := w.look(time.Now())
	return job != nil && slices.Contains(job.Removed, rank)
}

// started says that a rank has a new process, or is to have one; a spare is not watched.
func (w *jobWatch) started(rank int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if rank < len(w.ranks) {
		w.ranks[rank] = presence{}
	}
}

// look takes the job as the server has it, nil if that has none, and reports ranks
// that hang.
func (w *jobWatch) look(now time.Time) *protocol.JobStatus {
	job := w.find()
	w.mu.Lock()
	defer w.mu.Unlock()
	if job == nil {
		w.forgotten(now)
		return nil
	}
	w.seen, w.gone = true, time.Time{}
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
			default: // it is on its way already
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

// finished says that the job has ended well: the server has no other one to remember.
func (w *jobWatch) finished() bool { return w.status().Finished > 0 }

// forgotten notes that the server does not know the job. Once it has ended, workers do, too;
// one that somebody has stopped must be woken for it. Under the lock.
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
			default: // it is on its way already
			}
		}
	}
}

func (w *jobWatch) find() *protocol.JobStatus {
	s := w.status()
	for i := range s.Jobs {
		if s.Jobs[i].UniqueID == w.id {
			return &s.Jobs[i]
		}
	}
	return nil
}
