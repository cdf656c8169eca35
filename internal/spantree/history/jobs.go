// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// MaxJobs is the number of ended jobs that a status lists. They occupy up to 3 MiB, which
// the server's limit of memory does not count.
const MaxJobs = 1000

// Jobs are the jobs that have ended last, oldest first, in the form that a status has.
type Jobs []protocol.EndedJob

// Add adds a job, and forgets the oldest one at the limit.
func (e *Jobs) Add(j protocol.EndedJob) {
	*e = append(*e, j)
	if n := len(*e); n > MaxJobs {
		*e = slices.Delete(*e, 0, n-MaxJobs)
	}
}

// Explain adds the cause that was found to the newest record of a job.
func (e *Jobs) Explain(id protocol.Job, generation uint32, c *protocol.FoundCause) {
	for i := len(*e) - 1; i >= 0; i-- {
		if j := &(*e)[i]; j.UniqueID == id.UniqueID && j.RunKey == id.RunKey && j.Generation == generation {
			j.Found = c
			return
		}
	}
}

// Expire forgets the jobs that ended more than age ago.
func (e *Jobs) Expire(now time.Time, age time.Duration) {
	*e = slices.DeleteFunc(*e, func(j protocol.EndedJob) bool { return now.Sub(j.Ended) > age })
}
