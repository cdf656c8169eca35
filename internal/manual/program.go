// SPDX-License-Identifier: Apache-2.0

package manual

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gvw-project/gvw/internal/cli"
)

// Program is a program with its commands.
type Program struct {
	Name     string // gvw
	Section  int    // section of the manual: 1 for commands, 8 for servers
	Own      Command
	Commands []Command
}

// Command is a command of a program, or the program without a command.
type Command struct {
	Name    string // empty: the program itself
	Summary string // one line, without a final full stop
	// Before and After are the texts of the help above and below the options. Lines that begin
	// with two blanks are printed as they are.
	Before, After string
	Options       []*cli.Spec
	Words         []string // words that follow the name, such as split and slots
	Env           bool     // environment variables set the options
	Rest          bool     // more arguments follow "--"
}

// FromTable returns the program of a table.
func FromTable(name, summary string, t *cli.Table) Program {
	p := Program{Name: name, Section: 1, Own: fromSets(name, "", []*cli.FlagSet{t.Learner})}
	p.Own.Summary = summary
	for _, c := range t.Commands {
		command := fromSets(name, c.Name, c.Sets)
		if c.Summary != "" {
			command.Summary = c.Summary
		}
		p.Commands = append(p.Commands, command)
	}
	return p
}

// fromSets returns the command of some sets of options, whose help is that of the first one.
func fromSets(program, name string, sets []*cli.FlagSet) Command {
	c := Command{Name: name}
	for i, f := range sets {
		if i == 0 {
			c.Before, c.After, c.Env = f.Before, f.After, !f.NoEnv
			c.Summary = summary(f.Before, program, name)
		}
		c.Rest = c.Rest || f.Rest != ""
		for _, s := range f.Specs {
			if !slices.ContainsFunc(c.Options, func(o *cli.Spec) bool { return o.Name == s.Name }) {
				c.Options = append(c.Options, s)
			}
		}
		at, _, _ := strings.Cut(f.At, ",")
		if words := strings.Fields(at); len(words) > 2 {
			c.Words = append(c.Words, words[2])
		}
	}
	return c
}

// summary returns the first sentence of a text, without the words that it begins with.
func summary(text string, leave ...string) string {
	paragraph, _, _ := strings.Cut(text, "\n\n")
	words := strings.Fields(paragraph)
	for _, word := range leave {
		if len(words) > 0 && words[0] == word {
			words = words[1:]
		}
	}
	for i, word := range words {
		if strings.HasSuffix(word, ".") || strings.HasSuffix(word, ":") {
			words = words[:i+1]
			break
		}
	}
	return strings.TrimRight(strings.Join(words, " "), ".:")
}

// optionLine is the line of an option in a help page: its short name, its long name, its value,
// and the beginning of its help.
var optionLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ {2,6}(?:-(\w), )?(--\w+)(?: ([A-Z](?:\S*[^\s,])?))?(?:, (--.*))?(?: \(([^)]*)\))?(?:  +(.*))?$`)
})

// FromHelp returns a program without commands from its help page: a line with its usage, a text,
// headings that end with a colon, and options with their help below them or beside them.
func FromHelp(name string, section int, help string) Program {
	p := Program{Name: name, Section: section}
	category, before, inOptions := "Options", []string(nil), false
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\n")
		found := optionLine().FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "usage:"):
		case found != nil:
			inOptions = true
			help := strings.TrimSpace(found[6])
			if found[5] != "" {
				help += " (" + found[5] + ")"
			}
			p.add(category, found[1], found[2], found[3], help)
			for _, also := range strings.Split(found[4], ", ") {
				if words := strings.Fields(also); len(words) == 2 {
					p.add(category, "", words[0], words[1], help)
				}
			}
		case strings.HasSuffix(line, ":") && !strings.HasPrefix(line, " "):
			category = strings.TrimSuffix(line, ":")
		case inOptions && strings.HasPrefix(line, "          "):
			p.more(strings.TrimSpace(line))
		case !inOptions:
			before = append(before, line)
		case line != "" || p.Own.After != "":
			p.Own.After += line + "\n"
		}
	}
	p.Own.Before = strings.TrimSpace(strings.Join(before, "\n"))
	p.Own.Summary = summary(p.Own.Before)
	return p
}

// add adds an option.
func (p *Program) add(category, short, name, arg, help string) {
	kind := cli.Text
	if arg == "" {
		kind = cli.Boolean
	}
	p.Own.Options = append(p.Own.Options, &cli.Spec{Name: strings.TrimPrefix(name, "--"), Short: short, Kind: kind, Category: category, Arg: arg, Help: help})
}

// more adds a line to the help of the last option, and of those that share it.
func (p *Program) more(text string) {
	options := p.Own.Options
	last := options[len(options)-1].Help
	for i := len(options) - 1; i >= 0 && options[i].Help == last; i-- {
		options[i].Help = strings.TrimSpace(last + " " + text)
	}
}

// takes reports whether the word after an option is its value.
func takes(s *cli.Spec) bool { return s.Kind != cli.Boolean && s.Implied == "" }

// files reports whether the value of an option is the name of a file or directory.
func files(s *cli.Spec) bool {
	for _, word := range []string{"FILE", "DIR", "MODEL", "PATH", "PROGRAM"} {
		if strings.Contains(s.Arg, word) {
			return true
		}
	}
	return false
}

// spellings returns the option as it may be written.
func spellings(s *cli.Spec) []string {
	all := []string{s.Spelled()}
	if s.Alias != "" {
		all = append(all, "--"+s.Alias)
	}
	if s.Short != "" {
		all = append(all, "-"+s.Short)
	}
	return all
}

// names returns the names of the commands.
func (p *Program) names() []string {
	var all []string
	for _, c := range p.Commands {
		all = append(all, c.Name)
	}
	return all
}

// all returns the program itself, and its commands.
func (p *Program) all() []Command { return append([]Command{p.Own}, p.Commands...) }

// key is the name of a command in a script, "-" for the program itself.
func (c *Command) key() string {
	if c.Name == "" {
		return "-"
	}
	return c.Name
}
