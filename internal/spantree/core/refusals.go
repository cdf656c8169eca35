// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A rank that was refused for what it is started with is started again by most
// launchers. While its job is there it is refused again. When the job has failed
// meanwhile, it would open it anew and wait for ranks that do not come; so such
// refusals are remembered for a while, by what the rank has said.

const (
	refusedFor = 10 * time.Minute
	maxRefused = 1000
)

// content is what an attempt says that all ranks must agree on.
type content struct {
	id         protocol.Job
	generation uint32
	total      uint32
	options    [32]byte
	owner      [32]byte
	policy     protocol.OnLoss
	replace    time.Duration
}

func contentOf(f *protocol.JoinFrame) content {
	return content{protocol.Job{UniqueID: f.UniqueID, RunKey: f.RunKey}, f.Generation, f.Total, f.OptionsSHA256, f.Owner, f.OnLoss, f.ReplaceTimeout}
}

// refusals are the newest of jobs with a run key. Without one the same name is used
// for one run after the other, and what was wrong may be right in the next.
type refusals struct {
	by    map[content]*refusal
	queue []refused // oldest first
}

type refused struct {
	content
	at time.Time
}

func (r *refusals) add(f *protocol.JoinFrame, no *refusal, now time.Time) {
	c := contentOf(f)
	if f.RunKey == "" || no.code != protocol.OptionsDiffer && no.code != protocol.TotalDiffers || r.by[c] != nil {
		return
	}
	assign(&r.by, c, no)
	r.queue = append(r.queue, refused{c, now})
	r.expire(now)
}

func (r *refusals) expire(now time.Time) {
	for len(r.queue) > 0 && (len(r.queue) > maxRefused || now.Sub(r.queue[0].at) > refusedFor) {
		delete(r.by, r.queue[0].content)
		r.queue = r.queue[1:]
	}
}

// forget drops those of a job that has come to nothing: perhaps the one that was
// first was wrong, and not those that came later.
func (r *refusals) forget(id protocol.Job) {
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
