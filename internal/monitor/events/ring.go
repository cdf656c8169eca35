// SPDX-License-Identifier: Apache-2.0

package events

import (
	"slices"
	"sync"
	"time"
)

const (
	// Capacity is the number of events that a Ring holds.
	Capacity = 512
	// Age is how far back a report of events reaches.
	Age = 10 * time.Second
)

// Kind is what an event is about. Its numbers are part of the protocol.
type Kind uint8

const (
	Epoch      Kind = 1 // an epoch has started: Number is its number
	Collective Kind = 2 // a collective: Number, Verb, Name, Elements, Bytes, Peer
	Step       Kind = 3 // a part of a step: Name is work, exchange or commit
	Wait       Kind = 4 // the rank waits for Peer in collective Number; Name is the wait in words
	Checkpoint Kind = 5 // a checkpoint is written: Number is its step
	Failure    Kind = 6 // the rank's own error: Class, Name in words, Peer
)

func (k Kind) String() string {
	names := [...]string{Epoch: "epoch", Collective: "collective", Step: "step", Wait: "wait", Checkpoint: "checkpoint", Failure: "failure"}
	if k == 0 || int(k) >= len(names) {
		return "unknown"
	}
	return names[k]
}

// Event is something that a rank did, or waited for.
type Event struct {
	Ago      time.Duration // before the report
	Took     time.Duration // 0: it has no duration, or has not ended
	Open     bool          // it has not ended
	Kind     Kind
	Class    Class  // of a Failure
	Number   uint64 // of an epoch, collective or step; 0: none
	Peer     int    // a rank: the root of a collective, or the awaited one; -1: none
	Verb     string // of a collective: all-reduce, …
	Name     string // of a vector or part of a step; of a Failure, its text
	Elements uint64 // of a vector
	Bytes    uint64 // of a vector
}

// SameCall reports whether two collectives are the same call, whatever their numbers.
func (e Event) SameCall(f Event) bool {
	return e.Verb == f.Verb && e.Name == f.Name && e.Elements == f.Elements && e.Bytes == f.Bytes && e.Peer == f.Peer
}

// entry is an event in a ring.
type entry struct {
	Event
	at time.Time
}

// Mark identifies an event that has not ended.
type Mark struct{ count uint64 }

// Ring keeps the newest events of a rank.
type Ring struct {
	mu    sync.Mutex
	count uint64 // of all events so far
	all   [Capacity]entry
}

// New returns an empty ring.
func New() *Ring { return &Ring{} }

// Add records an event without a duration.
func (r *Ring) Add(e Event, at time.Time) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(e, at)
}

// Begin records the beginning of an event. The caller passes the result to End.
func (r *Ring) Begin(e Event, at time.Time) Mark {
	if r == nil {
		return Mark{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Open = true
	r.put(e, at)
	return Mark{r.count}
}

// put stores an event. The caller holds the lock.
func (r *Ring) put(e Event, at time.Time) {
	r.all[r.count%Capacity] = entry{e, at}
	r.count++
}

// End records that an event ends now. It does nothing if newer events have replaced it.
func (r *Ring) End(m Mark) { r.EndAt(m, time.Now()) }

// EndAt is End for a caller that knows the time.
func (r *Ring) EndAt(m Mark, now time.Time) {
	if r == nil || m.count == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count-m.count >= Capacity {
		return
	}
	e := &r.all[(m.count-1)%Capacity]
	e.Open, e.Took = false, max(0, now.Sub(e.at))
}

// Last returns the newest events, oldest first: at most limit, not older than Age unless they have not ended. The
// newest Epoch, Collective and Failure are returned in any case.
func (r *Ring) Last(now time.Time, limit int) (last []Event) {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	held := min(r.count, Capacity)
	var epoch, call, failure bool
	for i := uint64(0); i < held; i++ { // newest first
		e := r.all[(r.count-1-i)%Capacity]
		keep := e.Open || now.Sub(e.at) <= Age
		switch e.Kind {
		case Epoch:
			keep, epoch = keep || !epoch, true
		case Failure:
			keep, failure = keep || !failure, true
		case Collective:
			keep, call = keep && len(last) < limit || !call, true
		default:
			keep = keep && len(last) < limit
		}
		if keep {
			e.Ago = max(0, now.Sub(e.at))
			last = append(last, e.Event)
		}
	}
	slices.Reverse(last)
	return last
}
