// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"io"
)

// EnvLifeline names the variable that tells a worker which file descriptor is
// its end of the launcher's pipe.
const EnvLifeline = "GVW_LAUNCHER_FD"

// EnvAttempt names the variable that tells a process which attempt of its rank it is,
// from 1, where a launcher starts one again that has died.
const EnvAttempt = "GVW_ATTEMPT"

// ErrLauncherGone is why a worker ends whose launcher has died.
var ErrLauncherGone = errors.New("the launcher is gone (gvw run or gvw supervise has died)")

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
