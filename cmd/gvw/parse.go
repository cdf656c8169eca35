// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/compat"
)

// The grammar of vw's command line, which urfave/cli does not speak:
//
//	-b 18  -b18  --bit_precision 18  --bit_precision=18     the same
//	--bit-precision                                         dashes or underscores
//	-q ab cd -q ef                                          a list takes words up to the next option
//	-l -0.5                                                 a negative number is a value
//	-b 010                                                  ten: base 10 always
//	-b 1 -b 1                                               fine; -b 1 -b 2 is an error
//	train.vw -b 10                                          a word that no option takes is the data
//	@file                                                   the arguments in the file
//	--                                                      no options after this
//
// normalise turns it into settings, from which urfave gets one --name=value
// per option. An option that vw has and gvw lacks, an abbreviation and a
// misspelling are errors that say what to write.

// settings are the options of a command line, checked one by one.
type settings struct {
	flags  *flagSet
	values map[string][]string // canonical text; for a boolean "true"
	words  []string            // what no option took
	rest   []string            // what stood after "--"; nil: there was no "--"
	extra  []compat.Option     // options of vw that gvw accepts and does not need

	launcher string // command that has set span_server; empty: the user has
}

// has reports whether an option was given, on the command line or by the
// environment.
func (s *settings) has(name string) bool { return len(s.values[name]) > 0 }

// get returns an option's value; empty if it was not given.
func (s *settings) get(name string) string {
	if v := s.values[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// all returns every value of an option that may be repeated.
func (s *settings) all(name string) []string { return s.values[name] }

// number returns an integer option's value; 0 if it was not given.
func (s *settings) number(name string) uint64 {
	if !s.has(name) {
		return 0
	}
	u, err := strconv.ParseUint(s.get(name), 10, 64)
	if err != nil {
		panic("BUG: --" + name + " is no canonical number: " + s.get(name))
	}
	return u
}

// set replaces an option's values; none unsets it.
func (s *settings) set(name string, values ...string) {
	if len(values) == 0 {
		delete(s.values, name)
		return
	}
	s.values[name] = values
}

// clone returns settings that can be changed without changing s.
func (s *settings) clone() *settings {
	c := *s
	c.values = make(map[string][]string, len(s.values))
	for name, v := range s.values {
		c.values[name] = slices.Clone(v)
	}
	return &c
}

// args spells the options canonically, in the order of the table.
func (s *settings) args() []string {
	var args []string
	for _, spec := range s.flags.specs {
		for _, v := range s.values[spec.name] {
			if spec.kind == boolean {
				args = append(args, spec.spelled())
			} else {
				args = append(args, spec.spelled()+"="+v)
			}
		}
	}
	return args
}

// normaliser reads one command line.
type normaliser struct {
	flags *flagSet
	out   *settings
	errs  []error
}

// normalise reads arguments, after which the environment fills what they left
// out. env is a list of NAME=value.
func normalise(f *flagSet, args, env []string, readFile func(string) ([]byte, error)) (*settings, error) {
	n := &normaliser{flags: f, out: &settings{flags: f, values: map[string][]string{}}}
	args, err := cli.ExpandFiles(args, readFile)
	if err != nil {
		return nil, err
	}
	n.parse(args)
	n.environment(env)
	if err := errors.Join(n.errs...); err != nil {
		return nil, err
	}
	return n.out, nil
}

func (n *normaliser) fault(format string, args ...any) {
	n.errs = append(n.errs, cli.Usagef(format, args...))
}

// long finds an option by its long name.
func (n *normaliser) long(name string) *spec {
	for _, s := range n.flags.specs {
		if s.name == name || s.alias == name && name != "" {
			return s
		}
	}
	return nil
}

// short finds an option by its letter.
func (n *normaliser) short(letter string) *spec {
	for _, s := range n.flags.specs {
		if s.short == letter {
			return s
		}
	}
	return nil
}

// optionLike reports whether a word looks like an option, as vw has it: a
// negative number does not.
func optionLike(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	_, err := strconv.ParseFloat(word, 64)
	return err != nil
}

func underscored(name string) string { return strings.ReplaceAll(name, "-", "_") }

func (n *normaliser) parse(args []string) {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case word == "--":
			n.out.rest = append([]string{}, args...)
			return
		case strings.HasPrefix(word, "--"):
			args = n.parseLong(word, args)
		case optionLike(word):
			args = n.parseShort(word, args)
		default:
			n.out.words = append(n.out.words, word)
		}
	}
}

// parseLong reads --name, --name=value or --name value; it returns what is left.
func (n *normaliser) parseLong(word string, args []string) []string {
	name, value, attached := strings.Cut(word[2:], "=")
	s := n.long(underscored(name))
	if s == nil {
		if o, ok := compat.Find(underscored(name)); ok && o.Accepted() && n.learns() {
			return n.skip(o, "--"+name, attached, args)
		}
		n.unknown("--"+name, underscored(name))
		// What stands before the next option was meant for it.
		for !attached && len(args) > 0 && !optionLike(args[0]) {
			args = args[1:]
		}
		return args
	}
	return n.take(s, "--"+name, value, attached, args)
}

// parseShort reads -x, -xvalue or -x value; it returns what is left.
func (n *normaliser) parseShort(word string, args []string) []string {
	letter, attached := word[1:2], word[2:]
	if name, _, _ := strings.Cut(underscored(word[1:]), "="); len(name) > 1 && n.long(name) != nil {
		n.fault("%s: a long option needs two dashes: write -%s (vw would read it as -%s %s)", word, word, letter, attached)
		return args
	}
	s := n.short(letter)
	switch {
	case s == nil:
		if o, ok := compat.FindShort(letter); ok && o.Class != compat.Works {
			n.unsupported("-"+letter, o)
			return args
		}
		for _, other := range n.flags.table.specs() {
			if other.short == letter {
				n.fault("-%s is no option here: %s", letter, n.flags.elsewhere(other))
				return args
			}
		}
		n.fault("-%s is no option; see gvw --help", letter)
		return args
	case s.kind == boolean && attached != "":
		n.fault("%s: -%s takes no value; give each option its own dash", word, letter)
		return args
	case s.kind != list && strings.HasPrefix(attached, "="):
		n.fault("%s: vw would take %q as the value: write -%s %s or %s", word, attached, letter, attached[1:], s.spelled()+attached)
		return args
	}
	return n.take(s, "-"+letter+"/"+s.spelled(), attached, attached != "", args)
}

// take gives option s its value: the attached one, or the words that follow.
func (n *normaliser) take(s *spec, spelled, value string, attached bool, args []string) []string {
	if s.kind == boolean {
		if attached {
			n.fault("%s takes no value, but %q was given", spelled, value)
			return args
		}
		n.add(s, spelled, "true")
		return args
	}
	if !attached {
		// vw takes whatever follows; an option there is a value forgotten.
		if len(args) == 0 || args[0] == "--" || n.isOption(args[0], s) {
			n.fault("%s needs a value: %s", spelled, s.arg)
			return args
		}
		value, args = args[0], args[1:]
	}
	n.add(s, spelled, value)
	if s.kind == list {
		for len(args) > 0 && !optionLike(args[0]) {
			n.add(s, spelled, args[0])
			args = args[1:]
		}
	}
	return args
}

// learns reports whether the options are the learner's.
func (n *normaliser) learns() bool { return n.long("data") != nil }

// skip takes an option that does nothing here, and its value.
func (n *normaliser) skip(o compat.Option, spelled string, attached bool, args []string) []string {
	switch {
	case o.Values == compat.None && attached:
		n.fault("%s takes no value", spelled)
	case o.Values != compat.None && !attached && (len(args) == 0 || optionLike(args[0])):
		n.fault("%s needs a value", spelled)
	case o.Values != compat.None && !attached:
		args = args[1:]
	}
	for o.Values == compat.Many && len(args) > 0 && !optionLike(args[0]) {
		args = args[1:]
	}
	if !slices.Contains(n.out.extra, o) {
		n.out.extra = append(n.out.extra, o)
	}
	return args
}

// isOption reports whether the word in the place of a value is an option of
// ours. A list may begin with a dash (-q -a crosses namespaces - and a).
func (n *normaliser) isOption(word string, of *spec) bool {
	if strings.HasPrefix(word, "--") {
		name, _, _ := strings.Cut(word[2:], "=")
		return n.long(underscored(name)) != nil
	}
	return of.kind != list && optionLike(word) && len(word) == 2 && n.short(word[1:]) != nil
}

// add notes a value of s.
func (n *normaliser) add(s *spec, spelled, value string) {
	canonical, err := s.canonical(value)
	if err == nil && n.flags.check != nil {
		err = n.flags.check(s.name, canonical)
	}
	if err != nil {
		n.fault("%s: %w", spelled, err)
		return
	}
	if s.unset != "" && canonical == s.unset {
		return
	}
	old := n.out.values[s.name]
	// An interaction given twice may count twice, and rules apply in order.
	if slices.Contains(old, canonical) && !(s.kind == list && s.category == n.flags.repeats) {
		return
	}
	if len(old) > 0 && !s.repeat && s.kind != list {
		n.fault("Disagreeing option values for '%s': '%s' vs '%s'", s.name, old[0], canonical)
		return
	}
	if len(old) > 0 && s.single {
		n.fault("%s: one value only, but %s and %s were given (it takes all words up to the next option, as in vw; data is given by -d)", spelled, old[0], value)
		return
	}
	n.out.values[s.name] = append(old, canonical)
}

// notOptions are variables of the same prefix with other purposes.
var notOptions = []string{"GVW_ATTEMPT", "GVW_FAULT", "GVW_LAUNCHER_FD", "GVW_SHARED", "GVW_VW_PYTHON"}

// environment fills in what the command line left out. Empty is unset.
func (n *normaliser) environment(env []string) {
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "GVW_") || value == "" || slices.Contains(notOptions, name) {
			continue
		}
		s := n.long(strings.ToLower(strings.TrimPrefix(name, "GVW_")))
		switch {
		case s == nil:
			n.misspelledVariable(name)
		case n.out.has(s.name) || s.name == "help" || s.name == "version":
			// The command line comes first.
		case s.name == "data" && len(n.out.words)+len(n.out.rest) > 0:
			// So does a file named without -d.
		case s.kind == boolean:
			on, err := strconv.ParseBool(value)
			if err != nil {
				n.fault("%s: %q is neither 1 nor 0", name, value)
			} else if on {
				n.out.set(s.name, "true")
			}
		case s.kind == list && !s.single:
			for word := range strings.FieldsSeq(value) {
				n.add(s, name, word)
			}
		default:
			n.add(s, name, value)
		}
	}
}

// misspelledVariable refuses a variable that all but names an option. Others
// are left alone: they may be for other programs of the house.
func (n *normaliser) misspelledVariable(name string) {
	for _, s := range n.flags.table.specs() {
		if s.env() == name {
			return // an option of another command
		}
	}
	for _, s := range n.flags.specs {
		if distance(name, s.env()) <= 2 && len(s.name) > 4 {
			n.fault("%s: no option of this name: did you mean %s?", name, s.env())
			return
		}
	}
}
