// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"os"
	"syscall"
	"time"
)

// The pause before a new start: short, since others wait, and twice as long each
// time, since what fails again at once will not be better the next moment.
const (
	firstPause = 100 * time.Millisecond
	longPause  = 5 * time.Second
)

// pauseBefore returns the pause before the attempt that follows attempt (from 1).
func pauseBefore(attempt int) time.Duration {
	return min(firstPause<<min(attempt-1, 20), longPause)
}

// Exit codes with a meaning for launchers; each program of the house has them.
var final = map[int]string{
	0:                          "done",
	1:                          "usage",
	2:                          "data",
	6:                          "refused",
	128 + int(syscall.SIGINT):  "interrupted",
	128 + int(syscall.SIGTERM): "told to end",
}

// Curable reports whether another attempt may do better than one that ended with an
// exit code: wrong options, wrong data and refusals stay as they are, and who was
// told to end was not meant to come again.
func Curable(code int) bool {
	_, known := final[code]
	return !known
}

// again reports whether a worker that has failed is to be started again.
func (s *supervisor) again(r Result) bool {
	curable := s.job.Curable
	if curable == nil {
		curable = Curable
	}
	return !s.ending && r.Attempt <= s.job.Restarts && r.Err == nil && curable(r.Code) && (s.job.Again == nil || s.job.Again(r))
}

// pause lets a worker that has failed wait for its next start, if there is one.
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

// resume starts a worker again, unless that has become pointless.
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

// cancelPauses starts nobody again.
func (s *supervisor) cancelPauses() {
	for rank, timer := range s.pauses {
		timer.Stop() // one that has fired finds no pause
		delete(s.pauses, rank)
	}
}

// killHung kills a worker that does nothing any more, so that it is started again.
func (s *supervisor) killHung(rank int) {
	if p := s.process(rank); p != nil && p.Kill() == nil { // else it has ended already
		s.hung[rank] = s.results[rank].Attempt + 1 // results has the attempt before
	}
}

// wakeStopped lets a worker go on that somebody has stopped.
func (s *supervisor) wakeStopped(rank int) {
	if p := s.process(rank); p != nil {
		wake(p)
	}
}

// process returns the running process of a rank; nil: there is none.
func (s *supervisor) process(rank int) *os.Process {
	if rank < 0 || rank >= len(s.alive) || !s.alive[rank] {
		return nil
	}
	return s.cmds[rank].Process
}
