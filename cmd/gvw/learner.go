// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/learn"
)

// learner is the command gvw OPTIONS, which trains or predicts, alone or as a rank of a
// job.
type learner struct {
	*cli.Process
	files    *fileSet
	rank     int
	task     task             // the map task that it runs in; nil: none
	enlisted *allreduce.Group // the job, if it was joined before the inputs were known; nil: not yet
	live     []int            // members of the job then; nil: all ranks
	replaces bool             // it was a spare, and has the rank of one that is lost
	report   *learn.Report    // of the last training
}

// task is a launcher that has a say in what the learner does.
type task interface {
	// within returns the file system for outputs.
	within(fsys hdfsio.FS) hdfsio.FS
	// prepare changes the configuration before anything is allocated.
	prepare(cfg *learn.Config) error
}

func newLearner(p *cli.Process) *learner { return &learner{Process: p, files: newFileSet(p)} }

// learnCommand is gvw without a command.
func learnCommand(ctx context.Context, p *cli.Process, flags *flagSet, args []string) error {
	s, err := normalise(flags, args, p.Env, os.ReadFile)
	switch {
	case err != nil:
		return err
	case s.has("help"):
		return p.Print(flags.page(len(s.words) > 0 && s.words[0] == "all"))
	case s.has("version"):
		return p.Print(cli.Version() + "\n")
	}
	l := newLearner(p)
	if len(args) == 2 && args[0] == "--args" {
		return l.learnLines(ctx, flags, args[1])
	}
	note(p, s)
	takeData(p, s)
	if s.has("span_server") && !s.has("on_loss") && p.Getenv(launch.EnvAttempt) != "" {
		s.set("on_loss", restartedOnLoss) // gvw supervise starts this rank again
	}
	if err := checkLearn(s); err != nil {
		return err
	}
	leaveServer(s)
	if s.has("spare") {
		return l.spare(ctx, s)
	}
	if s.has("elastic") && s.has("shard") && !s.has("dry_run") {
		return l.muster(ctx, s)
	}
	return s.dispatch(ctx, l.learn)
}

// create returns a function that creates the outputs of the rank.
func (l *learner) create(ctx context.Context, fsys hdfsio.FS) func(string) (learn.Output, error) {
	if l.task != nil {
		fsys = l.task.within(fsys)
	}
	return l.files.creator(ctx, fsys, l.rank)
}
