// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"io"
	"os"
)

// EnvLifeline names the variable that tells a worker which file descriptor is
// its end of the launcher's pipe.
const EnvLifeline = "GVW_LAUNCHER_FD"

// EnvAttempt names the variable that tells a process which attempt of its rank it is,
// from 1, where a launcher starts one again that has died.
const EnvAttempt = "GVW_ATTEMPT"

// EnvSecret names the variable that tells a worker which file descriptor has the secret
// of the run. It is not in the variable, nor on the command line: others see those.
const EnvSecret = "GVW_SECRET_FD"

// ErrLauncherGone is why a worker ends whose launcher has died.
var ErrLauncherGone = errors.New("the launcher is gone (gvw run or gvw supervise has died)")

// handOver makes a pipe that has b in it, and ends then. b is short: it waits in the
// pipe, whoever reads it or not.
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
// written to it. The goroutine ends with the pipe, so at the latest with the
// process; the returned channel is closed then.
func Watch(pipe io.Reader, gone func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Any end is the end: an error means as little hope as an EOF.
		_, _ = io.Copy(io.Discard, pipe)
		gone()
	}()
	return done
}
