// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// jobServer is what the first rank of gvw run --join needs of its server.
type jobServer interface {
	Status() protocol.ServerStatus
	Cancel(id protocol.Job, reason string) error
}

const (
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

// others are the other ranks of the job whose server this process has.
type others struct {
	server jobServer
	job    protocol.Job
	total  int
	stop   chan struct{}
	done   sync.WaitGroup
	seen   map[int]bool // ranks that have joined; follow's until done
}

// watchOthers begins to record which ranks have joined. leave ends that.
func watchOthers(server jobServer, job protocol.Job, total int) *others {
	o := &others{server: server, job: job, total: total, stop: make(chan struct{}), seen: map[int]bool{0: true}}
	o.done.Go(o.follow)
	return o
}

// follow looks at the job until stop is closed.
func (o *others) follow() {
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
func (o *others) look() bool {
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

// leave keeps the server until the job has ended for all ranks, but not for long. err is the failure of this rank; nil: it
// has succeeded. After a failure it reports the cause to ranks that join later, because no other process can. If another attempt of this
// rank follows, it does not wait.
func (o *others) leave(ctx context.Context, err error, follows bool) {
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
	ticker := time.NewTicker(pollInterval)
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

// failedRank finds the rank in the reason for which a rank ends the job: see joined.failed. It may not have joined.
var failedRank = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\brank (\d+) of \d+ failed `) })

// seeFailed records that the rank whose failure is the cause of the end knows it.
func (o *others) seeFailed(cause string) {
	if m := failedRank().FindStringSubmatch(cause); m != nil {
		if rank, err := strconv.Atoi(m[1]); err == nil && rank < o.total {
			o.seen[rank] = true
		}
	}
}

// cause returns the reason why the job has failed: the first one that the server knows, or err.
func (o *others) cause(err error) string {
	for _, job := range o.server.Status().Ended {
		if job.UniqueID == o.job.UniqueID && job.Cause != "" {
			return job.Cause
		}
	}
	return err.Error()
}
