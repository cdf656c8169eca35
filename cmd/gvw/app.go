// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"github.com/gvw-project/gvw/internal/cli"

	"github.com/gvw-project/gvw/internal/launch"
)

// run reads the command line and does what it says.
func (p *program) run(ctx context.Context) error {
	args := p.Args
	if len(args) > 0 {
		if c := commandNamed(args[0]); c != nil {
			return c.run(p, ctx, args[1:])
		}
	}
	if err := checkCommand(args); err != nil {
		return err
	}
	s, err := normalise(learnFlags, args, p.Env, os.ReadFile)
	switch {
	case err != nil:
		return err
	case s.has("help"):
		return p.Print(learnHelp(len(s.words) > 0 && s.words[0] == "all"))
	case s.has("version"):
		return p.Print(version() + "\n")
	}
	if len(args) == 2 && args[0] == "--args" {
		return p.learnLines(ctx, args[1])
	}
	p.note(s)
	p.takeData(s)
	if s.has("span_server") && !s.has("on_loss") && p.Getenv(launch.EnvAttempt) != "" {
		s.set("on_loss", restartedOnLoss) // gvw supervise starts this rank again
	}
	if err := checkLearn(s); err != nil {
		return err
	}
	s.leaveServer()
	if s.has("spare") {
		return p.spare(ctx, s)
	}
	if s.has("elastic") && s.has("shard") && !s.has("dry_run") {
		return p.muster(ctx, s)
	}
	return p.dispatch(ctx, s.args(), learnFlags, p.learn)
}

// runCommand is gvw run.
func (p *program) runCommand(ctx context.Context, args []string) error {
	s, err := normalise(runFlags, args, withoutShared(p.Env), os.ReadFile)
	switch {
	case err != nil:
		return err
	case s.has("help"):
		return p.Print(runHelp())
	case len(s.words) > 0:
		return cli.Usagef("%q: the learner's options come after --, as in: gvw run -n 4 -- -d train.vw", s.words[0])
	case s.rest == nil:
		return cli.Usagef("gvw run: the learner's options come after --, as in: gvw run -n 4 -- -d train.vw")
	case !s.has("workers"):
		return cli.Usagef("gvw run: -n is missing: how many worker processes?")
	}
	if command, err := commandAfter(s.rest); command != nil || err != nil {
		if err != nil {
			return err
		}
		return p.launchProgram(ctx, s, command)
	}
	job, err := normalise(learnFlags, s.rest, withoutGuarded(p.Env), os.ReadFile)
	if err != nil {
		return err
	}
	if job.has("help") || job.has("version") {
		return cli.Usagef("gvw run: --help and --version come before --")
	}
	given, err := normalise(learnFlags, s.rest, nil, os.ReadFile) // not by the environment
	if err != nil {
		return err
	}
	if err := hand(s, job, given); err != nil {
		return err
	}
	p.noteExtra(job) // rank 0 notes the rest
	p.takeData(job)
	return p.dispatch(ctx, s.args(), runFlags, func(c *cli.Context) error { return p.launch(c, s.has("shard"), job) })
}

// hand gives the learner the options of its that stood before the "--". given has
// those that stood after it.
func hand(s, job, given *settings) error {
	var errs []error
	for _, o := range sharedFlags {
		before, after := s.all(o.name), given.all(o.name)
		switch {
		case len(before) == 0:
			continue
		case len(after) > 0 && !slices.Equal(before, after):
			errs = append(errs, cli.Usagef("--%s is %s before -- and %s after it: give it once", o.name, before[0], after[0]))
		}
		job.set(o.name, before...)
		s.set(o.name)
	}
	return errors.Join(errs...)
}

// withoutShared is the environment without the variables that set options of the
// learner's: they count as if they stood after the "--".
func withoutShared(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(sharedFlags, func(s *spec) bool { return s.env() == name })
	})
}

// withoutGuarded is the environment without the variables about credentials, which are
// for jobs on a network: those of gvw run have their own.
func withoutGuarded(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(learnFlags, func(s *spec) bool {
			return s.env() == name && s.name != "job_token" && slices.Contains(guarded, s.name)
		})
	})
}

// dispatch hands canonical arguments to urfave, which makes typed values of
// them. Printing and exit codes stay ours.
func (p *program) dispatch(ctx context.Context, args []string, specs []*spec, action cli.ActionFunc) error {
	app := &urfave.App{
		Name:                      "gvw",
		Flags:                     cliFlags(specs),
		Action:                    action,
		HideHelp:                  true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		Writer:                    io.Discard,
		ErrWriter:                 io.Discard,
		ExitErrHandler:            func(*urfave.Context, error) {},
		OnUsageError: func(_ *urfave.Context, err error, _ bool) error {
			// The normaliser lets nothing through that urfave would refuse.
			return fmt.Errorf("BUG: canonical arguments are refused: %w", err)
		},
	}
	return app.RunContext(ctx, append([]string{"gvw"}, args...))
}

// usageErrorf returns a fault of the command line.
func usageErrorf(format string, args ...any) error { return cli.Usagef(format, args...) }
