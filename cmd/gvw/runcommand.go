// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
)

// runCommand is gvw run.
func runCommand(ctx context.Context, p *cli.Process, c *command, args []string) error {
	flags := c.sets[0]
	learner, shared := flags.table.learner, sharedSpecs(flags)
	s, err := normalise(flags, args, without(p.Env, shared), os.ReadFile)
	switch {
	case err != nil:
		return err
	case s.has("help"):
		return p.Print(flags.page(true))
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
		return newLauncher(p, flags.table).launchProgram(ctx, s, command)
	}
	job, err := normalise(learner, s.rest, without(p.Env, guardedSpecs(learner)), os.ReadFile)
	if err != nil {
		return err
	}
	if job.has("help") || job.has("version") {
		return cli.Usagef("gvw run: --help and --version come before --")
	}
	given, err := normalise(learner, s.rest, nil, os.ReadFile) // not by the environment
	if err != nil {
		return err
	}
	if err := hand(shared, s, job, given); err != nil {
		return err
	}
	noteExtra(p, job) // rank 0 notes the rest
	takeData(p, job)
	return s.dispatch(ctx, func(c *cli.Context) error { return newLauncher(p, flags.table).launch(c, s.has("shard"), job) })
}

// hand gives the learner its options that stand before the "--". given has those that
// stand after it.
func hand(shared []*spec, s, job, given *settings) error {
	var errs []error
	for _, o := range shared {
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

// sharedSpecs returns the options of the learner that may stand before the "--".
func sharedSpecs(set *flagSet) []*spec {
	return slices.DeleteFunc(slices.Clone(set.specs), func(s *spec) bool { return !slices.Contains(set.table.learner.specs, s) })
}

// guardedSpecs returns the options about credentials, which are for jobs on a network: gvw
// run has its own.
func guardedSpecs(set *flagSet) []*spec {
	return slices.DeleteFunc(slices.Clone(set.specs), func(s *spec) bool { return s.name == "job_token" || !slices.Contains(guarded, s.name) })
}

// without returns the environment without the variables that set some options.
func without(env []string, specs []*spec) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(specs, func(s *spec) bool { return s.env() == name })
	})
}
