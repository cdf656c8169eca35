// SPDX-License-Identifier: Apache-2.0

package history

import (
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A job may fail while some of its ranks have not joined yet. Such a rank would open a new job and
// wait until its start timeout for ranks that do not come. The server therefore remembers the end
// of the job for a while, and sends it to each of these ranks once, as if the rank had joined in
// time. A launcher that restarts failed ranks then restarts this one, too.

const (
	failedFor = time.Minute // after which a late rank opens a new job
	maxFailed = 100         // limit of the jobs; each takes a bit for each of its ranks
)

// Failure is the end of a job that failed before all its ranks had joined.
type Failure struct {
	Job        protocol.Job
	Generation uint32
	End        *protocol.EpochEndFrame
	At         time.Time
	awaited    []uint64 // a bit for each rank that has not been sent End
}

// NewFailure returns the failure of a job of total ranks, of which those that awaits reports have
// not been sent the end.
func NewFailure(id protocol.Job, generation uint32, total int, awaits func(rank int) bool, end *protocol.EpochEndFrame, at time.Time) *Failure {
	f := &Failure{Job: id, Generation: generation, End: end, At: at, awaited: make([]uint64, (total+63)/64)}
	for r := range total {
		if awaits(r) {
			f.awaited[r/64] |= 1 << (r % 64)
		}
	}
	return f
}

// take reports whether the rank has not been sent the end, and records that it is sent now.
func (f *Failure) take(rank uint32) bool {
	word, bit := int(rank/64), uint64(1)<<(rank%64)
	if word >= len(f.awaited) || f.awaited[word]&bit == 0 {
		return false
	}
	f.awaited[word] &^= bit
	return true
}

// Failures are the newest failures.
type Failures struct {
	by    map[protocol.Job]*Failure
	queue []*Failure // oldest first
}

// Add remembers a failure. It replaces an earlier one of the same job.
func (f *Failures) Add(e *Failure) {
	if f.by == nil {
		f.by = map[protocol.Job]*Failure{}
	}
	f.by[e.Job] = e
	f.queue = append(f.queue, e)
	f.Expire(e.At)
}

// Take returns the end of the job that the rank of a JOIN has missed; nil if there is none. It
// returns it to each rank once. It is nil for a job without a run key: successive runs of such a
// job have the same id, and the rank may be one of the next run.
func (f *Failures) Take(join *protocol.JoinFrame, now time.Time) *protocol.EpochEndFrame {
	e := f.by[join.Job()]
	if e == nil || join.RunKey == "" || e.Generation != join.Generation || now.Sub(e.At) > failedFor || !e.take(join.Rank) {
		return nil
	}
	return e.End
}

// Remove forgets the failure of a job that is opened again, and returns it; nil if there is none.
// The ranks of that job have been restarted.
func (f *Failures) Remove(id protocol.Job, now time.Time) *Failure {
	e := f.by[id]
	delete(f.by, id)
	if e == nil || now.Sub(e.At) > failedFor {
		return nil
	}
	return e
}

// Expire forgets failures that are too old or too many, the oldest first. A newer one of the same
// job remains.
func (f *Failures) Expire(now time.Time) {
	for len(f.queue) > 0 && (len(f.queue) > maxFailed || now.Sub(f.queue[0].At) > failedFor) {
		if e := f.queue[0]; f.by[e.Job] == e {
			delete(f.by, e.Job)
		}
		f.queue = f.queue[1:]
	}
}
