// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/gvw-project/gvw/bench/speculation"
)

// catExperiment is the category of what an experiment takes.
const catExperiment = "Experiment"

// experiment shows on this machine what is said of a cluster.
type experiment struct {
	name  string
	does  string // one line of help
	more  string // the rest of it
	specs []*spec
	run   func(p *program, c *cli.Context) error
}

var experiments = []*experiment{
	{
		name: "speculation", run: (*program).speculation,
		does: "slow ranks, with and without second attempts of them",
		more: "Ranks are goroutines that sleep in place of work; server, connections and sums are\nreal. Half of the slow ranks are slow from the start, the others from pass 3 on.\n",
		specs: []*spec{
			{name: "ranks", short: "n", kind: integer, positive: true, max: 1000, category: catExperiment, arg: "N", def: "20", help: "ranks of the job"},
			{name: "passes", kind: integer, positive: true, max: 1000, category: catExperiment, arg: "N", def: "8", help: "passes of each of the two runs"},
			{name: "pass", kind: duration, category: catExperiment, arg: "T", def: "80ms", help: "time of a healthy rank's pass"},
			{name: "slow", kind: float, positive: true, category: catExperiment, arg: "X", def: "0.1", help: "share of slow ranks, up to a third"},
			{name: "factor", kind: float, positive: true, category: catExperiment, arg: "X", def: "10", help: "how many times slower they are"},
			{name: "within", kind: duration, category: catExperiment, arg: "T", def: "20s", help: "refuse what may take longer"},
			{name: "seed", kind: integer, category: catExperiment, arg: "N", def: "0", help: "draws who is slow"},
			{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
		},
	},
}

func experimentsHelp() string {
	var b strings.Builder
	b.WriteString("gvw experiments shows on this machine what is said of clusters.\n\n")
	for _, e := range experiments {
		b.WriteString("  gvw experiments " + e.name + "   " + e.does + "\n")
	}
	b.WriteString("\n--help of each says more.\n")
	return b.String()
}

func (e *experiment) help() string {
	var b strings.Builder
	b.WriteString("gvw experiments " + e.name + ": " + e.does + ".\n\n  gvw experiments " + e.name + " [OPTIONS]\n")
	writeOptions(&b, e.specs, true)
	b.WriteString("\n" + e.more)
	return b.String()
}

// experimentsCommand is gvw experiments.
func (p *program) experimentsCommand(ctx context.Context, args []string) error {
	var names []string
	for _, e := range experiments {
		if names = append(names, e.name); len(args) > 0 && args[0] == e.name {
			return p.experiment(ctx, e, args[1:])
		}
	}
	if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
		return p.print(experimentsHelp())
	}
	return usageErrorf("gvw experiments: which one? There is: %s", strings.Join(names, ", "))
}

func (p *program) experiment(ctx context.Context, e *experiment, args []string) error {
	s, err := normalise(e.specs, args, p.env, os.ReadFile)
	switch {
	case err != nil:
		return err
	case s.has("help"):
		return p.print(e.help())
	case len(s.words)+len(s.rest) > 0:
		return usageErrorf("gvw experiments %s takes options only, but got %q", e.name, append(s.words, s.rest...)[0])
	}
	return p.dispatch(ctx, s.args(), e.specs, func(c *cli.Context) error { return e.run(p, c) })
}

// speculation runs jobs with slow ranks.
func (p *program) speculation(c *cli.Context) error {
	cfg := speculation.Config{
		Ranks: int(c.Uint64("ranks")), Passes: int(c.Uint64("passes")), Pass: c.Duration("pass"),
		Slow: c.Float64("slow"), Factor: c.Float64("factor"), Within: c.Duration("within"), Seed: c.Uint64("seed"),
		Log: slog.New(slog.DiscardHandler),
	}
	if err := cfg.Validate(); err != nil {
		var errs []error
		for line := range strings.SplitSeq(err.Error(), "\n") {
			errs = append(errs, usageErrorf("%s", strings.TrimPrefix(line, "speculation: ")))
		}
		return errors.Join(errs...)
	}
	r, err := speculation.Run(c.Context, cfg)
	if err != nil {
		return err
	}
	return r.WriteTable(p.stdout)
}
