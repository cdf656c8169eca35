// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
)

// table has all commands and options.
type table struct {
	learner  *flagSet // without a command
	commands []*command
}

// command is a command by its first word.
type command struct {
	name string
	sets []*flagSet // empty: it has no options
	// run runs the command with the arguments after its name.
	run func(ctx context.Context, p *cli.Process, c *command, args []string) error
}

// flagSet is the options of a command, or of one of its subcommands.
type flagSet struct {
	at    string // where a user gives them: "gvw topo"
	specs []*spec

	before, after string                            // help above and below the options
	help          func(f *flagSet, all bool) string // the whole page, in short form without all; nil: before, options, after

	noEnv   bool   // variables do not set these options
	repeats string // category whose lists keep repeated values
	// check checks a value of an option beyond its kind; nil: nothing is checked.
	check   func(name, value string) error
	noWords string // error format for an argument that is not an option; "": such arguments are allowed

	// rest is the remark on an option that belongs after the "--": any with restAny, else
	// the learner's. Empty: nothing stands there.
	rest    string
	restAny bool

	table *table
}

// newTable returns a table whose option sets refer to it.
func newTable(learner *flagSet, commands []*command) *table {
	t := &table{learner: learner, commands: commands}
	learner.table = t
	for _, c := range commands {
		for _, f := range c.sets {
			f.table = t
		}
	}
	return t
}

// command returns the command of that name, or nil.
func (t *table) command(name string) *command {
	if i := slices.IndexFunc(t.commands, func(c *command) bool { return c.name == name }); i >= 0 {
		return t.commands[i]
	}
	return nil
}

// specs returns the options of the learner and of all commands.
func (t *table) specs() []*spec {
	all := slices.Clone(t.learner.specs)
	for _, c := range t.commands {
		for _, f := range c.sets {
			all = append(all, f.specs...)
		}
	}
	return all
}

// at returns the command to which an option belongs, or "".
func (t *table) at(s *spec) string {
	for _, c := range t.commands {
		for _, f := range c.sets {
			if slices.Contains(f.specs, s) {
				return f.at
			}
		}
	}
	return ""
}

// checkCommand refuses a first word that is meant as a command and is none. A file of that
// name is data, as for vw.
func (t *table) checkCommand(args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[0], "@") {
		return nil
	}
	word := args[0]
	if _, err := os.Stat(word); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if here, ok := otherCommands[word]; ok {
		return cli.Usagef("%q is no command and no file: %s", word, here)
	}
	best, limit := "", max(1, len(word)/3)
	for _, c := range t.commands {
		if d := distance(word, c.name); d <= limit {
			best, limit = c.name, d-1
		}
	}
	if best != "" {
		return cli.Usagef("%q is no command and no file: did you mean gvw %s?", word, best)
	}
	return nil
}

// page returns the help.
func (f *flagSet) page(all bool) string {
	if f.help != nil {
		return f.help(f, all)
	}
	var b strings.Builder
	b.WriteString(f.before)
	writeOptions(&b, f.specs, true)
	b.WriteString(f.after)
	return b.String()
}

// read reads the options of a command. If help was asked for, it prints the page and
// returns nil settings.
func (f *flagSet) read(p *cli.Process, args []string) (*settings, error) {
	env := p.Env
	if f.noEnv {
		env = nil
	}
	s, err := normalise(f, args, env, os.ReadFile)
	switch {
	case err != nil:
		return nil, err
	case s.has("help"):
		return nil, p.Print(f.page(true))
	case f.noWords != "" && len(s.words)+len(s.rest) > 0:
		return nil, cli.Usagef(f.noWords, append(s.words, s.rest...)[0])
	}
	return s, nil
}

// elsewhere says where an option of another command belongs.
func (f *flagSet) elsewhere(s *spec) string {
	ofLearner := slices.Contains(f.table.learner.specs, s)
	switch {
	case f.rest != "" && (f.restAny || ofLearner):
		return f.rest
	case ofLearner:
		return "it is the learner's, as in: gvw -d train.vw " + s.spelled()
	}
	return "it belongs to " + f.table.at(s)
}
