// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"io"
	"os"
)

// EnvLifeline is the variable with the number of the file descriptor that is a worker's end
// of the launcher's pipe.
const EnvLifeline = "GVW_LAUNCHER_FD"

// EnvAttempt is the variable with the number of the process's attempt of its rank,
// from 1, under a launcher that restarts processes.
const EnvAttempt = "GVW_ATTEMPT"

// EnvLeaves is the variable that is 1 in a worker of which SIGTERM is no failure of the job, since another launcher starts
// the rank again: it leaves the job as a lost rank does.
const EnvLeaves = "GVW_LEAVES"

// EnvSecret is the variable with the number of the file descriptor that has the secret
// of the run. The secret itself is not in a variable or on the command line, which others can see.
const EnvSecret = "GVW_SECRET_FD"

// EnvStdinEnd is the variable with the number of the file descriptor on which the writer of stdin
// sends a byte after the data. Without that byte the end of stdin is an error: the writer was killed.
const EnvStdinEnd = "GVW_STDIN_END_FD"

// ErrLauncherGone is the reason for which a worker ends whose launcher has died.
var ErrLauncherGone = errors.New("the launcher is gone (gvw run or gvw supervise has died)")

// handOver makes a pipe that contains b and then ends. b is short enough to stay in the
// pipe's buffer, whether or not it is read.
func handOver(b []byte) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	_, err = w.Write(b)
	if err := errors.Join(err, w.Close()); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// Watch reads the launcher's pipe and calls gone when it ends. Nothing is ever
// written to it. Its goroutine ends with the pipe, at the latest with the
// process, and then closes the returned channel.
func Watch(pipe io.Reader, gone func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		// An error counts as the end, like io.EOF.
		_, _ = io.Copy(io.Discard, pipe)
		gone()
	}()
	return done
}
