// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"os"
	"syscall"
	"time"
)

// The delay before a restart. It begins short, because the other ranks wait, and doubles each
// time, because a process that fails at once will probably fail again.
const (
	firstPause = 100 * time.Millisecond
	longPause  = 5 * time.Second
)

// pauseBefore returns the delay before the attempt that follows attempt (from 1).
func pauseBefore(attempt int) time.Duration {
	return min(firstPause<<min(attempt-1, 20), longPause)
}

// final has the exit codes after which another attempt is useless, with their meanings. All
// programs of the project use these codes; package cli defines them.
var final = map[int]string{
	0:                          "done",
	1:                          "usage",
	2:                          "data",
	6:                          "refused",
	128 + int(syscall.SIGINT):  "interrupted",
	128 + int(syscall.SIGTERM): "told to end",
}

// Curable reports whether another attempt may succeed after one with this exit code.
// Invalid options, invalid data and refusals stay as they are, and a process that was
// told to end must not be restarted.
func Curable(code int) bool {
	_, known := final[code]
	return !known
}

// again reports whether a failed worker should be restarted.
func (s *supervisor) again(r Result) bool {
	curable := s.job.Curable
	if curable == nil {
		curable = Curable
	}
	return !s.ending && r.Attempt <= s.job.Restarts && r.Err == nil && curable(r.Code) && (s.job.Again == nil || s.job.Again(r))
}

// pause starts the delay before the restart of a failed worker, if there will be one.
func (s *supervisor) pause(r Result) bool {
	if !s.again(r) {
		return false
	}
	d := pauseBefore(r.Attempt)
	if s.job.Restarting != nil {
		s.job.Restarting(r, d)
	}
	s.pauses[r.Rank] = time.AfterFunc(d, func() { s.due <- r.Rank })
	return true
}

// resume restarts a worker after its delay, unless the job no longer needs it.
func (s *supervisor) resume(rank int) {
	if _, waits := s.pauses[rank]; !waits {
		return // the job has ended meanwhile
	}
	delete(s.pauses, rank)
	if r := s.results[rank]; s.again(r) {
		s.start(rank)
	} else {
		s.failed(r)
	}
}

// cancelPauses cancels all pending restarts.
func (s *supervisor) cancelPauses() {
	for rank, timer := range s.pauses {
		timer.Stop() // one that has fired finds no entry
		delete(s.pauses, rank)
	}
}

// killHung kills a worker that hangs, so that it is restarted. It reports whether the worker had a process.
func (s *supervisor) killHung(rank int) bool {
	p := s.process(rank)
	if p == nil || p.Kill() != nil {
		return false // it has ended already
	}
	s.hung[rank] = s.results[rank].Attempt + 1 // results has the previous attempt
	return true
}

// wakeStopped continues a worker that was stopped, after the signal that the job is over.
func (s *supervisor) wakeStopped(rank int) {
	p := s.process(rank)
	if p == nil {
		return
	}
	if s.job.Over != nil {
		_ = p.Signal(s.job.Over) // an error means that it has ended
	}
	wake(p)
}

// process returns the running process of a rank; nil: there is none.
func (s *supervisor) process(rank int) *os.Process {
	if rank < 0 || rank >= len(s.alive) || !s.alive[rank] {
		return nil
	}
	return s.cmds[rank].Process
}
