// SPDX-License-Identifier: Apache-2.0

// Package background moves a server into the background, as daemon(3) does.
//
//	p := background.Program{Variable: "EXAMPLE_READY", Args: os.Args, Env: os.Environ(), Stderr: os.Stderr, Foreground: "--foreground"}
//	ready, child := p.Child()
//	if !child {
//		code, port, err := p.Start()   // the server listens, or has failed
//	}
//	…                                  // listen
//	ready(port, nil)                   // Start returns in the parent
//
// A Go program cannot fork. It starts itself again as a child in a session of its own, and passes
// it a pipe. The child writes its port to the pipe when it listens. Until then the parent waits, so
// that errors appear on the terminal and in the exit code. The child then closes the caller's
// stderr, since ssh and $(program) wait until it is closed.
package background

import (
	"fmt"
	"os"
	"time"
)

// Program is a server that can run in the background.
type Program struct {
	Variable   string        // environment variable that marks the child
	Args       []string      // command line, with the name of the program
	Env        []string      // environment, NAME=value
	Foreground string        // option that keeps the server in the foreground, for messages
	Stderr     *os.File      // gets the errors of the child until it listens; nil: they are discarded
	Within     time.Duration // time for the child to start listening; 0: 30 s
}

// DeadlineError reports that the background server did not start listening in time.
type DeadlineError struct {
	after      time.Duration
	foreground string
}

func (e *DeadlineError) Error() string {
	return fmt.Sprintf("the background server did not start listening within %v: use %s to see why", e.after, e.foreground)
}
