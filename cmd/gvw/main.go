// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/crash"
	"github.com/gvw-project/gvw/learn"
)

func main() {
	// A launcher's children have the core limit that the user has set.
	launcher := len(os.Args) > 1 && slices.Contains([]string{"run", "supervise"}, os.Args[1])
	crash.Abort(launcher || os.Getenv("GOTRACEBACK") == "crash")
	p := &program{
		args: os.Args[1:], env: os.Environ(),
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
	}
	os.Exit(p.main())
}

// program is a call of gvw: what the process was given.
type program struct {
	args, env      []string
	stdin          *os.File
	stdout, stderr io.Writer
	rank           int              // for faults
	task           *mapper          // of Hadoop's; nil: none
	enlisted       *allreduce.Group // of who has joined before it knows its inputs; nil: this has not
	live           []int            // then: who takes part; nil: all
	replaces       bool             // it was a spare, and has the rank of one that is lost
	opened         []*hdfsio.URLs   // to be closed at the end
	report         *learn.Report    // of the training that has ended last
}

// main runs the command and returns the exit code. What it prints last, if the
// command fails, says what, where, why and what to do.
func (p *program) main() int {
	if len(p.args) > 0 && p.args[0] == "supervise" {
		code, err := p.superviseCommand(p.args[1:])
		if err != nil {
			return p.fail(err)
		}
		return code
	}
	ctx, stop := interruptible(context.Background(), p.stderr, p.orders())
	defer stop()
	if err := watchLauncher(p.env, stop); err != nil {
		return p.fail(err)
	}
	err := p.run(ctx)
	if cerr := p.closeFiles(); err == nil {
		err = cerr
	}
	if err == nil {
		return 0
	}
	// What broke because the process was told to end is no news.
	if cause, ok := context.Cause(ctx).(*interruption); ok {
		err = cause
	}
	return p.fail(err)
}

// orders is how this call takes signals.
func (p *program) orders() orders {
	if len(p.args) > 0 && p.args[0] == "mapper" {
		return orders{quick: true, leaves: true}
	}
	return orders{}
}

func (p *program) fail(err error) int {
	for _, line := range errorLines(err) {
		fmt.Fprintln(p.stderr, "gvw: "+line)
	}
	return exitCode(err)
}
