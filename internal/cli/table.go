// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Table has all commands and options.
type Table struct {
	Learner  *FlagSet // options of gvw without a command
	Commands []*Command
}

// Command is a command of gvw, which the first argument names.
type Command struct {
	Name string
	Sets []*FlagSet // empty: it has no options
	// Summary is the purpose in one line, for the manual; empty: the first sentence of the help.
	Summary string
	// Run runs the command with the arguments after its name.
	Run func(ctx context.Context, p *Process, c *Command, args []string) error
}

// FlagSet is the options of a command, or of one of its subcommands.
type FlagSet struct {
	At    string // where a user gives them: "gvw topo"
	Specs []*Spec

	Before, After string                            // help above and below the options
	Help          func(f *FlagSet, all bool) string // the whole page, in short form without all; nil: before, options, after

	NoEnv   bool   // environment variables do not set these options
	Repeats string // category whose lists keep equal values; in others, an equal value is dropped
	// Check checks a value of an option beyond its kind; nil: nothing is checked.
	Check   func(name, value string) error
	NoWords string // error format for an argument that is not an option; "": such arguments are allowed

	// Rest is the hint for an option that belongs after the "--". Empty: the command takes no
	// "--".
	Rest string
	// RestAny extends the hint to all options; false: it is for those of the learner.
	RestAny bool

	Table *Table // table that has this set; NewTable sets it
}

// NewTable returns a table whose option sets refer to it.
func NewTable(learner *FlagSet, commands []*Command) *Table {
	t := &Table{Learner: learner, Commands: commands}
	learner.Table = t
	for _, c := range commands {
		for _, f := range c.Sets {
			f.Table = t
		}
	}
	return t
}

// Command returns the command of that name, or nil.
func (t *Table) Command(name string) *Command {
	if i := slices.IndexFunc(t.Commands, func(c *Command) bool { return c.Name == name }); i >= 0 {
		return t.Commands[i]
	}
	return nil
}

// Specs returns the options of the learner and of all commands.
func (t *Table) Specs() []*Spec {
	all := slices.Clone(t.Learner.Specs)
	for _, c := range t.Commands {
		for _, f := range c.Sets {
			all = append(all, f.Specs...)
		}
	}
	return all
}

// at returns the first command that has an option, or "".
func (t *Table) at(s *Spec) string {
	for _, c := range t.Commands {
		for _, f := range c.Sets {
			if slices.Contains(f.Specs, s) {
				return f.At
			}
		}
	}
	return ""
}

// CheckCommand returns an error if the first word is not a command, but resembles one or is a
// command of other learners. A file of that name is data, as in vw.
func (t *Table) CheckCommand(args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[0], "@") {
		return nil
	}
	word := args[0]
	if _, err := os.Stat(word); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if here, ok := otherCommands[word]; ok {
		return Usagef("%q is no command and no file: %s", word, here)
	}
	best, limit := "", max(1, len(word)/3)
	for _, c := range t.Commands {
		if d := distance(word, c.Name); d <= limit {
			best, limit = c.Name, d-1
		}
	}
	if best != "" {
		return Usagef("%q is no command and no file: did you mean gvw %s?", word, best)
	}
	return nil
}

// Page returns the help.
func (f *FlagSet) Page(all bool) string {
	if f.Help != nil {
		return f.Help(f, all)
	}
	var b strings.Builder
	b.WriteString(f.Before)
	WriteOptions(&b, f.Specs, true)
	b.WriteString(f.After)
	return b.String()
}

// Read reads the options of a command. If help was asked for, it prints the page and
// returns nil settings.
func (f *FlagSet) Read(p *Process, args []string) (*Settings, error) {
	env := p.Env
	if f.NoEnv {
		env = nil
	}
	s, err := Parse(f, args, env, os.ReadFile)
	switch {
	case err != nil:
		return nil, err
	case s.Has("help"):
		return nil, p.Print(f.Page(true))
	case f.NoWords != "" && len(s.Words)+len(s.Rest) > 0:
		return nil, Usagef(f.NoWords, append(s.Words, s.Rest...)[0])
	}
	return s, nil
}

// elsewhere returns the hint for an option of another command.
func (f *FlagSet) elsewhere(s *Spec) string {
	ofLearner := slices.Contains(f.Table.Learner.Specs, s)
	switch {
	case f.Rest != "" && (f.RestAny || ofLearner):
		return f.Rest
	case ofLearner:
		return "it is the learner's, as in: gvw -d train.vw " + s.Spelled()
	}
	return "it belongs to " + f.Table.at(s)
}
