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

// Expire forgets the jobs that ended more than age ago.
func (e *Jobs) Expire(now time.Time, age time.Duration) {
	*e = slices.DeleteFunc(*e, func(j protocol.EndedJob) bool { return now.Sub(j.Ended) > age })
}
