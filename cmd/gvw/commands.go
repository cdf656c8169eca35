// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
)

// command is a command of gvw, by its first word.
type command struct {
	name    string
	options []options // empty: none of its own
	run     func(p *program, ctx context.Context, args []string) error
}

// options are the options of a command, and where a user gives them.
type options struct {
	at    string // "gvw topo"
	specs []*spec
}

// commands returns all commands, in the order in which an option that several have is
// looked for. Without one of them gvw learns. A function, since a variable would refer to itself
// by the commands that suggest others.
func commands() []command {
	var all []command
	for _, t := range tools {
		all = append(all, command{
			name: t.name, options: []options{{"gvw " + t.name, t.specs}},
			run: func(p *program, ctx context.Context, args []string) error { return p.toolCommand(ctx, t, args) },
		})
	}
	return append(all, []command{
		{name: "bench", options: []options{{"gvw bench allreduce", benchFlags}}, run: (*program).benchCommand},
		{name: "topo", options: []options{{"gvw topo", topoFlags}}, run: (*program).topoCommand},
		{name: "doctor", options: []options{{"gvw doctor", doctorFlags}}, run: (*program).doctorCommand},
		{name: "jobs", options: []options{{"gvw jobs", jobsFlags}}, run: (*program).jobsCommand},
		{name: "cancel", options: []options{{"gvw cancel", cancelFlags}}, run: (*program).cancelCommand},
		{name: "supervise", options: []options{{"gvw supervise, before the --", superviseFlags}}}, // main runs it: it returns another program's exit code
		{name: "mapper", options: []options{{"gvw mapper, before the --", mapperFlags}}, run: (*program).mapperCommand},
		{name: "hadoop", options: []options{{"gvw hadoop split", splitFlags}, {"gvw hadoop slots", slotsFlags}}, run: (*program).hadoopCommand},
		{name: "keygen", options: []options{{"gvw keygen", keygenFlags}}, run: (*program).keygenCommand},
		{name: "faults", run: (*program).faultsCommand},
		{name: "run", options: []options{{"gvw run, before the --", runFlags}}, run: (*program).runCommand},
		{name: "allreduce", options: []options{{"gvw allreduce", allreduceFlags}}, run: (*program).allreduceCommand},
		{name: "version", run: func(p *program, _ context.Context, _ []string) error { return p.Print(version() + "\n") }},
		{name: "help", run: func(p *program, _ context.Context, args []string) error { return p.Print(learnHelp(len(args) > 0)) }},
	}...)
}

// commandNamed returns a command; nil: there is none of that name that run runs.
func commandNamed(name string) *command {
	all := commands()
	if i := slices.IndexFunc(all, func(c command) bool { return c.name == name && c.run != nil }); i >= 0 {
		return &all[i]
	}
	return nil
}

// allSpecs returns the options of the learner and of all commands.
func allSpecs() []*spec {
	all := slices.Clone(learnFlags)
	for _, c := range commands() {
		for _, o := range c.options {
			all = append(all, o.specs...)
		}
	}
	return all
}

// belongs returns where an option of a command is given; empty: it is no option of one.
func belongs(s *spec) string {
	for _, c := range commands() {
		for _, o := range c.options {
			if slices.Contains(o.specs, s) {
				return o.at
			}
		}
	}
	return ""
}
