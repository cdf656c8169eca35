// SPDX-License-Identifier: Apache-2.0

package history

import (
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Most launchers restart a rank that was refused for its options or total. While its job exists,
// the rank is refused again. If the job has failed meanwhile, the rank would open a new job and
// wait for ranks that do not come. The server therefore remembers the refused values for a while.

const (
	refusedFor = 10 * time.Minute // after which a refused attempt may open a job of its own
	maxRefused = 1000             // limit of the refusals that the server remembers
)

// content are the values on which all ranks must agree.
type content struct {
	id         protocol.Job
	generation uint32
	total      uint32
	options    [32]byte
	owner      [32]byte
	policy     protocol.OnLoss
	replace    time.Duration
	elastic    time.Duration
}

// contentOf returns the values of a JOIN that must agree.
func contentOf(f *protocol.JoinFrame) content {
	return content{f.Job(), f.Generation, f.Total, f.OptionsSHA256, f.Owner, f.OnLoss, f.ReplaceTimeout, f.Elastic}
}

// Refusals are the newest refusals of jobs with a run key. Without a run key, successive runs use
// the same id, and refused values may be right in the next one.
type Refusals struct {
	by    map[content]*protocol.RefusedFrame
	queue []refused // oldest first
}

type refused struct {
	content
	at time.Time
}

// Add remembers a refusal, if it is for the options or the total and the job has a run key.
func (r *Refusals) Add(f *protocol.JoinFrame, no *protocol.RefusedFrame, now time.Time) {
	c := contentOf(f)
	if f.RunKey == "" || no.Code != protocol.OptionsDiffer && no.Code != protocol.TotalDiffers || r.by[c] != nil {
		return
	}
	if r.by == nil {
		r.by = map[content]*protocol.RefusedFrame{}
	}
	r.by[c] = no
	r.queue = append(r.queue, refused{c, now})
	r.Expire(now)
}

// Find returns the refusal of earlier attempts with the same values; nil if there is none.
func (r *Refusals) Find(f *protocol.JoinFrame) *protocol.RefusedFrame { return r.by[contentOf(f)] }

// Expire forgets refusals that are too old or too many, the oldest first.
func (r *Refusals) Expire(now time.Time) {
	for len(r.queue) > 0 && (len(r.queue) > maxRefused || now.Sub(r.queue[0].at) > refusedFor) {
		delete(r.by, r.queue[0].content)
		r.queue = r.queue[1:]
	}
}

// Forget removes the refusals of a job that ended without a start: its first rank may have had the
// wrong values.
func (r *Refusals) Forget(id protocol.Job) {
	kept := r.queue[:0]
	for _, c := range r.queue {
		if c.id == id {
			delete(r.by, c.content)
			continue
		}
		kept = append(kept, c)
	}
	r.queue = kept
}
