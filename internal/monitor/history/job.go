// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"strconv"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// ID identifies a job of a history.
type ID struct {
	UniqueID   uint64
	RunKey     string
	Generation uint32
}

// Name returns the name of a job for people: its run key, else its number.
func (id ID) Name() string {
	if id.RunKey != "" {
		return plain.Text(id.RunKey)
	}
	return strconv.FormatUint(id.UniqueID, 10)
}

// Job is the history of a job.
type Job struct {
	ID     ID
	Number int                   // in the order of the history, from 1; never reused
	Opened time.Time             // estimated from the first snapshot
	Now    time.Duration         // time of the newest snapshot, since Opened
	Status protocol.JobStatus    // the newest one, without Ranks
	Ended  *protocol.EndedJob    // nil: it runs
	Ranks  []Rank                // by rank; empty if the job ended before any snapshot
	Others []protocol.RankStatus // standbys and spares
	Events []Event               // oldest first
	Loss   Curve                 // mean over the ranks, weighted by their examples

	Dropped int // events that were dropped, oldest first
	cfg     Config
}

// Rank is the history of a rank of a job. Its attempts follow each other.
type Rank struct {
	Status   protocol.RankStatus // of the newest attempt
	Present  bool                // an attempt holds the rank
	Attempts int                 // that have held it
	Spans    []Span              // oldest first; the first begins at 0 unless spans were dropped
	Loss     Curve
	Marks    []Mark // losses and later attempts, oldest first; at most 64

	DroppedSpans, DroppedMarks int // oldest first

	before  *traffic.Counts // counts of the attempt before the newest ones; nil: none
	counted time.Duration   // when the newest ones came
}

// Mark is an event of one rank, for its lane.
type Mark struct {
	At   time.Duration
	Kind Kind // Lost, Joined or Left
}

// maxMarks limits the marks of a rank.
const maxMarks = 64

// Phase returns the newest phase.
func (r *Rank) Phase() Phase {
	if len(r.Spans) == 0 {
		return Absent
	}
	return r.Spans[len(r.Spans)-1].Phase
}

// Since returns when the newest phase began.
func (r *Rank) Since() time.Duration {
	if len(r.Spans) == 0 {
		return 0
	}
	return r.Spans[len(r.Spans)-1].At
}

// enter begins a phase, unless the rank is in it.
func (r *Rank) enter(at time.Duration, p Phase, waitsFor int32, limit int) {
	n := len(r.Spans)
	if n > 0 && r.Spans[n-1].Phase == p && r.Spans[n-1].For == waitsFor {
		return
	}
	if n >= limit {
		// A quarter is dropped at once, so that a long job does not move all spans for each new one.
		drop := max(1, n/4)
		r.Spans = append(r.Spans[:0], r.Spans[drop:]...)
		r.DroppedSpans += drop
	}
	r.Spans = append(r.Spans, Span{at, p, waitsFor})
}

// mark appends a mark.
func (r *Rank) mark(at time.Duration, k Kind) {
	if len(r.Marks) >= maxMarks {
		r.Marks = append(r.Marks[:0], r.Marks[1:]...)
		r.DroppedMarks++
	}
	r.Marks = append(r.Marks, Mark{at, k})
}

// Kind is the kind of an event. The numbers are part of the page's stream of events.
type Kind uint8

// The kinds of events.
const (
	Opened   Kind = iota // the job was opened
	Joined               // an attempt took a rank
	Lost                 // a rank was lost
	Left                 // the job continues without a rank
	Recover              // an epoch has ended, and the job waits for its ranks
	Wired                // an epoch has begun
	JobEnded             // the job has ended
	Refused              // an attempt was refused
	Found                // the cause of a stall, a loss or a failure was found
)

// Kinds are the names of the kinds, by their number.
var Kinds = [...]string{"opened", "joined", "lost", "removed", "recovering", "wired", "ended", "refused", "cause"}

func (k Kind) String() string { return Kinds[k] }

// Event is a change of a job.
type Event struct {
	At   time.Duration
	Kind Kind
	Rank int    // -1: none
	Text string // one sentence for people
}

// spans returns the limit of the spans of a rank.
func (j *Job) spans() int { return share(j.cfg.Spans, len(j.Ranks), 8, 1024) }

// event appends an event.
func (j *Job) event(at time.Duration, k Kind, rank int, format string, args ...any) {
	if len(j.Events) >= j.cfg.Events {
		drop := max(1, len(j.Events)/4)
		j.Events = append(j.Events[:0], j.Events[drop:]...)
		j.Dropped += drop
	}
	j.Events = append(j.Events, Event{at, k, rank, plain.Text(fmt.Sprintf(format, args...))})
}
