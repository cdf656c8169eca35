// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/train"
)

// Command runs gvw run.
func Command(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	flags := c.Sets[0]
	learner, shared := flags.Table.Learner, sharedSpecs(flags)
	s, err := cli.Parse(flags, args, without(p.Env, shared), os.ReadFile)
	switch {
	case err != nil:
		return err
	case s.Has("help"):
		return p.Print(flags.Page(true))
	case len(s.Words) > 0:
		return cli.Usagef("%q: the learner's options come after --, as in: gvw run -n 4 -- -d train.vw", s.Words[0])
	case s.Rest == nil:
		return cli.Usagef("gvw run: the learner's options come after --, as in: gvw run -n 4 -- -d train.vw")
	case s.Has("join_dir") && !s.Has("join"):
		return cli.Usagef("--join_dir would be ignored without --join: gvw run -n N starts all ranks on this machine")
	case s.Has("hosts") && s.Has("join"):
		return cli.Usagef("--hosts with --join: the one starts all ranks, the other is one that has been started")
	case !s.Has("workers") && !s.Has("join") && !s.Has("hosts"):
		return cli.Usagef("gvw run: -n is missing, the number of worker processes, as in: gvw run -n 4 -- -d train.vw")
	}
	hosts, err := hostsOf(s)
	if err != nil {
		return err
	}
	if command, err := commandAfter(s.Rest); command != nil || err != nil {
		if err != nil {
			return err
		}
		if s.Has("join") && err == nil {
			return newLauncher(p, flags.Table).joinProgram(ctx, s, command)
		}
		return newLauncher(p, flags.Table).launchProgram(ctx, s, command)
	}
	env := p.Env // gvw run makes its own credentials, gvw run --join takes those of the environment
	if !s.Has("join") {
		env = without(p.Env, guardedSpecs(learner))
	}
	job, err := cli.Parse(learner, s.Rest, env, os.ReadFile)
	if err != nil {
		return err
	}
	if job.Has("help") || job.Has("version") {
		return cli.Usagef("gvw run: --help and --version come before --")
	}
	// A variable of the environment is weaker than an option before the "--", and must not conflict
	// with it.
	given, err := cli.Parse(learner, s.Rest, nil, os.ReadFile) // without the environment
	if err != nil {
		return err
	}
	if err := moveShared(shared, s, job, given); err != nil {
		return err
	}
	train.NoteExtra(p, job) // rank 0 prints the other notes
	train.TakeData(p, job)
	if s.Has("join") {
		return newLauncher(p, flags.Table).joinLearner(ctx, s, job)
	}
	return s.Dispatch(ctx, func(c *cli.Context) error { return newLauncher(p, flags.Table).launch(c, s.Has("shard"), hosts, job) })
}

// moveShared moves the learner's options that stand before the "--" to the learner. given has
// those after it.
func moveShared(shared []*cli.Spec, s, job, given *cli.Settings) error {
	var errs []error
	for _, o := range shared {
		before, after := s.All(o.Name), given.All(o.Name)
		switch {
		case len(before) == 0:
			continue
		case len(after) > 0 && !slices.Equal(before, after):
			errs = append(errs, cli.Usagef("--%s is %s before -- and %s after it: give it once", o.Name, before[0], after[0]))
		}
		job.Set(o.Name, before...)
		s.Set(o.Name)
	}
	return errors.Join(errs...)
}

// sharedSpecs returns the learner's options that may stand before the "--".
func sharedSpecs(set *cli.FlagSet) []*cli.Spec {
	return slices.DeleteFunc(slices.Clone(set.Specs), func(s *cli.Spec) bool { return !slices.Contains(set.Table.Learner.Specs, s) })
}

// guardedSpecs returns the options for credentials except --job_token. They are for jobs on a
// network; gvw run makes its own credentials, and ignores these variables.
func guardedSpecs(set *cli.FlagSet) []*cli.Spec {
	return slices.DeleteFunc(slices.Clone(set.Specs), func(s *cli.Spec) bool { return s.Name == "job_token" || !slices.Contains(flags.Guarded, s.Name) })
}

// without returns the environment without the variables that set some options.
func without(env []string, specs []*cli.Spec) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(specs, func(s *cli.Spec) bool { return s.Env() == name })
	})
}
