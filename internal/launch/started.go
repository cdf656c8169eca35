// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"os"
	"os/exec"
	"sync"
)

// errKilled is the reason why a worker is not started.
var errKilled = errors.New("the launcher has killed its workers")

// started has the newest process of each rank. Any goroutine may kill them all.
type started struct {
	mu     sync.Mutex
	procs  map[int]*os.Process
	killed bool
}

// start starts a command as the process of a rank, unless kill was called.
func (s *started) start(rank int, cmd *exec.Cmd) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.killed {
		return errKilled
	}
	err := cmd.Start()
	if err == nil {
		s.procs[rank] = cmd.Process
	}
	return err
}

// kill kills all processes. No other one starts afterwards.
func (s *started) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killed = true
	for _, p := range s.procs {
		_ = p.Kill() // an error means that it has ended
	}
}
