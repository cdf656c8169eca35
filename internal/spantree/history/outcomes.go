// SPDX-License-Identifier: Apache-2.0

package history

import (
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Outcome is the end of a job that recovered from losses. Its attempts may not have received the
// end.
type Outcome struct {
	Job   protocol.Job
	Epoch protocol.Epoch // the job's last
	Last  protocol.Frame // EPOCH_END or FINISHED
	At    time.Time
}

// Outcomes are the newest of them, limited in number and age.
type Outcomes struct {
	by    map[protocol.Job]*Outcome
	queue []*Outcome
}

// Add adds an outcome. It replaces that of an earlier job of the same name.
func (p *Outcomes) Add(o *Outcome) {
	if p.by == nil {
		p.by = map[protocol.Job]*Outcome{}
	}
	p.by[o.Job] = o
	p.queue = append(p.queue, o)
}

// Expire forgets the oldest outcomes beyond limit, and those older than age. A newer job of the
// same name remains.
func (p *Outcomes) Expire(now time.Time, limit int, age time.Duration) {
	q := p.queue
	for len(q) > 0 && (len(q) > limit || now.Sub(q[0].At) > age) {
		if p.by[q[0].Job] == q[0] {
			delete(p.by, q[0].Job)
		}
		q = q[1:]
	}
	p.queue = q
}

// Find returns the outcome of the newest job of this name; nil if there is none.
func (p *Outcomes) Find(id protocol.Job) *Outcome { return p.by[id] }
