// SPDX-License-Identifier: Apache-2.0

package departure

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// fakeServer has at most one job, which each cancellation ends.
type fakeServer struct {
	mu        sync.Mutex
	ranks     []int // of the job; nil: there is none
	ended     []protocol.EndedJob
	cancelled []string
}

func (s *fakeServer) Status() (st protocol.ServerStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ranks != nil {
		job := protocol.JobStatus{UniqueID: 7}
		for _, r := range s.ranks {
			job.Ranks = append(job.Ranks, protocol.RankStatus{Rank: r})
		}
		st.Jobs = append(st.Jobs, job)
	}
	st.Ended = s.ended
	return st
}

func (s *fakeServer) Cancel(_ protocol.Job, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranks, s.cancelled = nil, append(s.cancelled, reason)
	s.ended = append(s.ended, protocol.EndedJob{UniqueID: 7, Outcome: "cancelled", Cause: reason})
	return nil
}

func (s *fakeServer) set(ranks ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranks = ranks
}

func TestOthers(t *testing.T) {
	fault := errors.New("rank 0 failed")
	job := protocol.Job{UniqueID: 7}
	for name, c := range map[string]struct {
		err       error
		follows   bool
		joined    []int // before the end of this rank
		later     []int // 3 s after it
		gone      bool  // the job has ended with this rank
		cause     string
		took      time.Duration
		cancelled []string
	}{
		"all have ended":                     {joined: []int{0, 1}, gone: true},
		"a rank that still writes":           {joined: []int{0, 1}, took: lingering},
		"a failure that all know":            {err: fault, joined: []int{0, 1}, gone: true, cause: "rank 1 failed", took: failedQuiet},
		"a failure that is new":              {err: fault, joined: []int{0, 1}, took: failedQuiet, cancelled: []string{"rank 0 failed"}},
		"a rank that comes late":             {err: fault, joined: []int{0}, gone: true, cause: "rank 1 failed", later: []int{1}, took: 3*time.Second + failedQuiet, cancelled: []string{"rank 1 failed"}},
		"a rank that never comes":            {err: fault, joined: []int{0}, gone: true, took: failedLingering},
		"a rank that failed before it came":  {err: fault, joined: []int{0}, gone: true, cause: "cancelled: rank 1 of 2 failed (exit code 5)", took: failedQuiet},
		"another attempt takes the job over": {err: fault, follows: true, joined: []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &fakeServer{}
				s.set(c.joined...)
				o := Watch(s, job, 2)
				synctest.Wait()
				time.Sleep(pollEvery) // of the bubble
				if c.gone {
					s.set()
				}
				if c.cause != "" {
					s.mu.Lock()
					s.ended = []protocol.EndedJob{{UniqueID: 7, Cause: c.cause}}
					s.mu.Unlock()
				}
				if c.later != nil {
					go func() {
						time.Sleep(3*time.Second - time.Millisecond)
						s.set(c.later...)
					}()
				}
				began := time.Now()
				o.Leave(context.Background(), c.err, c.follows)
				if took := time.Since(began); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				if diff := cmp.Diff(c.cancelled, s.cancelled); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}
