// SPDX-License-Identifier: Apache-2.0

package departure

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Server is what this package needs of a spanning-tree server in the same process.
type Server interface {
	Status() protocol.ServerStatus
	Cancel(id protocol.Job, reason string) error
}

const (
	// pollEvery is the time between two looks at the job after the end of this rank.
	pollEvery = 200 * time.Millisecond
	// lingering is the time that the first rank keeps the server for the others after its own success.
	lingering = 30 * time.Second
	// failedLingering is the same after its failure, for ranks that come only then.
	failedLingering = 10 * time.Second
	// followEvery is the time between two looks at the job. A job that fails at once exists only briefly.
	followEvery = 20 * time.Millisecond
	// failedQuiet is the time without a job after which the others know of a failure. A rank that is refused while it joins
	// asks again, about once a second, before it believes that.
	failedQuiet = 2 * time.Second
)

// Others are the other ranks of a job, as the server has seen them since [Watch].
type Others struct {
	server Server
	job    protocol.Job
	total  int
	stop   chan struct{}
	done   sync.WaitGroup
	seen   map[int]bool // ranks that have joined; follow's until done
}

// Watch begins to record which ranks have joined a job of total ranks. [Others.Leave] ends that.
func Watch(server Server, job protocol.Job, total int) *Others {
	o := &Others{server: server, job: job, total: total, stop: make(chan struct{}), seen: map[int]bool{0: true}}
	o.done.Go(o.follow)
	return o
}

// follow looks at the job until stop is closed.
func (o *Others) follow() {
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for {
		o.look()
		select {
		case <-o.stop:
			return
		case <-ticker.C:
		}
	}
}

// look records the ranks that are there, and reports whether there is a job.
func (o *Others) look() bool {
	st := o.server.Status()
	for _, job := range st.Jobs {
		if job.UniqueID == o.job.UniqueID {
			for _, r := range job.Ranks {
				o.seen[r.Rank] = true
			}
		}
	}
	return len(st.Jobs) > 0
}

// Leave keeps the server until the job has ended for all ranks, but not for long. err is the failure of this rank; nil: it
// has succeeded. After a failure it reports the cause to ranks that join later, because no other process can. If another attempt of this
// rank follows, it does not wait.
func (o *Others) Leave(ctx context.Context, err error, follows bool) {
	close(o.stop)
	o.done.Wait()
	limit := lingering
	if err != nil {
		limit = failedLingering
	}
	if follows || ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	quiet := time.Now() // since then there has been no job
	for {
		there := o.look()
		if there {
			quiet = time.Now()
		}
		if err != nil {
			o.seeFailed(o.cause(err))
		}
		switch {
		case !there && (err == nil || len(o.seen) >= o.total && time.Since(quiet) >= failedQuiet):
			return
		case there && err != nil:
			_ = o.server.Cancel(o.job, o.cause(err)) // an error: it has ended, or has a token
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Failure returns the reason for which a rank ends the job: how it has failed.
func Failure(rank, total int, how string) string {
	return fmt.Sprintf("rank %d of %d failed (%s)", rank, total, how)
}

// failedRank finds the rank in a [Failure], which may have an address before it. The rank may not have joined.
var failedRank = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\brank (\d+) of \d+ failed `) })

// seeFailed records that the rank whose failure is the cause of the end knows it.
func (o *Others) seeFailed(cause string) {
	if m := failedRank().FindStringSubmatch(cause); m != nil {
		if rank, err := strconv.Atoi(m[1]); err == nil && rank < o.total {
			o.seen[rank] = true
		}
	}
}

// cause returns the reason why the job has failed: the first one that the server knows, or err.
func (o *Others) cause(err error) string {
	for _, job := range o.server.Status().Ended {
		if job.UniqueID == o.job.UniqueID && job.Cause != "" {
			return job.Cause
		}
	}
	return err.Error()
}
