// SPDX-License-Identifier: Apache-2.0

package history

import (
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Runs are the newest finished runs, by which late attempts are refused. They are limited in
// number, memory and age.
type Runs struct {
	by    map[string]*protocol.FinishedRecord // by run key
	queue []*protocol.FinishedRecord          // oldest first
	bytes int64
	limit int
	room  int64 // limit of bytes
	age   time.Duration
}

// NewRuns returns an empty memory for limit runs of room bytes, each of which is forgotten after
// age. The newest run is kept even if it exceeds room.
func NewRuns(limit int, room int64, age time.Duration) *Runs {
	return &Runs{by: map[string]*protocol.FinishedRecord{}, limit: limit, room: room, age: age}
}

// Add adds a run, and forgets the oldest ones at the limits. The newest run always remains.
func (f *Runs) Add(r *protocol.FinishedRecord) {
	f.by[r.Job.RunKey] = r
	f.queue = append(f.queue, r)
	f.bytes += r.MemoryUse()
	for len(f.queue) > f.limit || f.bytes > f.room && len(f.queue) > 1 {
		f.drop()
	}
}

// Expire forgets the runs that finished more than the age ago.
func (f *Runs) Expire(now time.Time) {
	for len(f.queue) > 0 && now.Sub(f.queue[0].At) > f.age {
		f.drop()
	}
}

// drop forgets the oldest run. A newer run of the same key remains.
func (f *Runs) drop() {
	if r := f.queue[0]; f.by[r.Job.RunKey] == r {
		delete(f.by, r.Job.RunKey)
	}
	f.bytes -= f.queue[0].MemoryUse()
	f.queue = f.queue[1:]
}

// Find returns the newest run of a key; nil if there is none.
func (f *Runs) Find(key string) *protocol.FinishedRecord { return f.by[key] }

// Len returns the number of keys.
func (f *Runs) Len() int { return len(f.by) }

// Bytes returns the memory of the runs, in bytes.
func (f *Runs) Bytes() int64 { return f.bytes }
