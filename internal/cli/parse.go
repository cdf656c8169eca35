// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/compat"
)

// The grammar of vw's command line:
//
//	-b 18  -b18  --bit_precision 18  --bit_precision=18     the same
//	--bit-precision                                         dashes or underscores
//	-q ab cd -q ef                                          a list takes words up to the next option
//	-l -0.5                                                 a negative number is a value
//	-b 010                                                  ten: numbers are always decimal
//	-b 1 -b 1                                               allowed; -b 1 -b 2 is an error
//	train.vw -b 10                                          a word that is no option's value is the data
//	@file                                                   the arguments in the file
//	--                                                      no options after this
//
// Parse turns it into Settings, with the values in canonical form.

// Settings are the options of a command line. Each value has been checked.
type Settings struct {
	Flags  *FlagSet
	values map[string][]string // canonical text; for a boolean "true"
	Words  []string            // words that no option has taken
	Rest   []string            // words after "--"; nil: there is no "--"
	Extra  []compat.Option     // options of vw that gvw accepts and does not need

	Launcher string // command that has set span_server; empty: the user has
}

// Has reports whether an option was given, on the command line or by a variable.
func (s *Settings) Has(name string) bool { return len(s.values[name]) > 0 }

// Get returns the first value of an option, or "" if it was not given.
func (s *Settings) Get(name string) string {
	if v := s.values[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// All returns every value of an option that may be repeated.
func (s *Settings) All(name string) []string { return s.values[name] }

// Number returns the value of an integer option, or 0 if it was not given.
func (s *Settings) Number(name string) uint64 { return (&Context{settings: s}).Uint64(name) }

// Set replaces the values of an option. Without values it unsets the option.
func (s *Settings) Set(name string, values ...string) {
	if len(values) == 0 {
		delete(s.values, name)
		return
	}
	s.values[name] = values
}

// Clone returns a copy whose values can be changed independently.
func (s *Settings) Clone() *Settings {
	c := *s
	c.values = make(map[string][]string, len(s.values))
	for name, v := range s.values {
		c.values[name] = slices.Clone(v)
	}
	return &c
}

// Args returns the options in canonical form, in the order of the table. Parsing them yields
// equal settings: gvw run starts its workers with them.
func (s *Settings) Args() []string {
	var args []string
	for _, spec := range s.Flags.Specs {
		for _, v := range s.values[spec.Name] {
			if spec.Kind == Boolean {
				args = append(args, spec.Spelled())
			} else {
				args = append(args, spec.Spelled()+"="+v)
			}
		}
	}
	return args
}

// normaliser parses one command line. It collects all errors instead of stopping at the first
// one, so that a user can mend them together.
type normaliser struct {
	flags *FlagSet
	out   *Settings
	errs  []error
}

// Parse parses arguments, and then takes options that they lack from the variables of env
// (NAME=value). readFile reads argument files. The error is a UsageError, several joined, or
// that of readFile.
func Parse(f *FlagSet, args, env []string, readFile func(string) ([]byte, error)) (*Settings, error) {
	n := &normaliser{flags: f, out: &Settings{Flags: f, values: map[string][]string{}}}
	args, err := ExpandFiles(args, readFile)
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

// fault records a usage error.
func (n *normaliser) fault(format string, args ...any) {
	n.errs = append(n.errs, Usagef(format, args...))
}

// long finds an option by its long name.
func (n *normaliser) long(name string) *Spec {
	for _, s := range n.flags.Specs {
		if s.Name == name || s.Alias == name && name != "" {
			return s
		}
	}
	return nil
}

// short finds an option by its letter.
func (n *normaliser) short(letter string) *Spec {
	for _, s := range n.flags.Specs {
		if s.Short == letter {
			return s
		}
	}
	return nil
}

// optionLike reports whether a word looks like an option. As in vw a negative number does not.
func optionLike(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	_, err := strconv.ParseFloat(word, 64)
	return err != nil
}

// underscored returns a name with underscores instead of dashes, as the tables have it.
func underscored(name string) string { return strings.ReplaceAll(name, "-", "_") }

// parse parses all arguments. An error does not stop it.
func (n *normaliser) parse(args []string) {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case word == "--":
			n.out.Rest = append([]string{}, args...)
			return
		case strings.HasPrefix(word, "--"):
			args = n.parseLong(word, args)
		case optionLike(word):
			args = n.parseShort(word, args)
		default:
			n.out.Words = append(n.out.Words, word)
		}
	}
}

// parseLong reads --name, --name=value or --name value; it returns the remaining arguments.
func (n *normaliser) parseLong(word string, args []string) []string {
	name, value, attached := strings.Cut(word[2:], "=")
	s := n.long(underscored(name))
	if s == nil {
		if o, ok := compat.Find(underscored(name)); ok && o.Accepted() && n.learns() {
			return n.skip(o, "--"+name, attached, args)
		}
		n.unknown("--"+name, underscored(name))
		// Skip the words before the next option: they are probably its values, and would
		// otherwise cause further errors.
		for !attached && len(args) > 0 && !optionLike(args[0]) {
			args = args[1:]
		}
		return args
	}
	return n.take(s, "--"+name, value, attached, args)
}

// parseShort reads -x, -xvalue or -x value; it returns the remaining arguments.
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
		for _, other := range n.flags.Table.Specs() {
			if other.Short == letter {
				n.fault("-%s is no option here: %s", letter, n.flags.elsewhere(other))
				return args
			}
		}
		n.fault("-%s is no option; see gvw --help", letter)
		return args
	case s.Kind == Boolean && attached != "":
		n.fault("%s: -%s takes no value; give each option its own dash", word, letter)
		return args
	case s.Kind != List && strings.HasPrefix(attached, "="):
		n.fault("%s: vw would take %q as the value: write -%s %s or %s", word, attached, letter, attached[1:], s.Spelled()+attached)
		return args
	}
	return n.take(s, "-"+letter+"/"+s.Spelled(), attached, attached != "", args)
}

// take sets option s to its value: the attached one, or the words that follow. spelled is the
// option as messages name it. take returns the remaining arguments.
func (n *normaliser) take(s *Spec, spelled, value string, attached bool, args []string) []string {
	if s.Kind == Boolean {
		if attached {
			n.fault("%s takes no value, but %q was given", spelled, value)
			return args
		}
		n.add(s, spelled, "true")
		return args
	}
	switch {
	case attached:
	case s.Implied != "":
		value = s.Implied
	default:
		// vw takes any word as the value. Here an option in that place means that the value is
		// missing.
		if len(args) == 0 || args[0] == "--" || n.isOption(args[0], s) {
			n.fault("%s needs a value: %s", spelled, s.Arg)
			return args
		}
		value, args = args[0], args[1:]
	}
	n.add(s, spelled, value)
	if s.Kind == List {
		for len(args) > 0 && !optionLike(args[0]) {
			n.add(s, spelled, args[0])
			args = args[1:]
		}
	}
	return args
}

// learns reports whether the options are the learner's. Only the learner accepts options of vw
// that have no effect.
func (n *normaliser) learns() bool { return n.long("data") != nil }

// skip consumes an option that has no effect here, and its value.
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
	if !slices.Contains(n.out.Extra, o) {
		n.out.Extra = append(n.out.Extra, o)
	}
	return args
}

// isOption reports whether the word at the place of a value is an option. A value of a list may
// begin with a dash: -q -a crosses the namespaces - and a.
func (n *normaliser) isOption(word string, of *Spec) bool {
	if strings.HasPrefix(word, "--") {
		name, _, _ := strings.Cut(word[2:], "=")
		return n.long(underscored(name)) != nil
	}
	return of.Kind != List && optionLike(word) && len(word) == 2 && n.short(word[1:]) != nil
}

// add checks a value and adds it to those of s. An equal value given again is dropped, and two
// different values of an option that takes one are an error in vw's words.
func (n *normaliser) add(s *Spec, spelled, value string) {
	canonical, err := s.Canonical(value)
	if err == nil && n.flags.Check != nil {
		err = n.flags.Check(s.Name, canonical)
	}
	if err != nil {
		n.fault("%s: %w", spelled, err)
		return
	}
	if s.Unset != "" && canonical == s.Unset {
		return
	}
	old := n.out.values[s.Name]
	// A repeated interaction may count twice, and rules apply in order.
	if slices.Contains(old, canonical) && !(s.Kind == List && s.Category == n.flags.Repeats) {
		return
	}
	if len(old) > 0 && !s.Repeat && s.Kind != List {
		n.fault("Disagreeing option values for '%s': '%s' vs '%s'", s.Name, old[0], canonical)
		return
	}
	if len(old) > 0 && s.Single {
		n.fault("%s: one value only, but %s and %s were given (it takes all words up to the next option, as in vw; data is given by -d)", spelled, old[0], value)
		return
	}
	n.out.values[s.Name] = append(old, canonical)
}

// notOptions are variables with the prefix of options that set no option.
var notOptions = []string{"GVW_ATTEMPT", "GVW_DAEMON_READY", "GVW_FAULT", "GVW_LAUNCHER_FD", "GVW_SHARED", "GVW_STDIN_END_FD", "GVW_VW_PYTHON"}

// environment sets the options that the command line does not give. An empty variable counts as
// unset.
func (n *normaliser) environment(env []string) {
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, envPrefix) || value == "" || slices.Contains(notOptions, name) {
			continue
		}
		s := n.long(strings.ToLower(strings.TrimPrefix(name, envPrefix)))
		switch {
		case s == nil:
			n.misspelledVariable(name)
		case n.out.Has(s.Name) || s.Name == "help" || s.Name == "version":
			// The command line has precedence.
		case s.Name == "data" && len(n.out.Words)+len(n.out.Rest) > 0:
			// A file without -d has precedence, too.
		case s.Kind == Boolean:
			on, err := strconv.ParseBool(value)
			if err != nil {
				n.fault("%s: %q is neither 1 nor 0", name, value)
			} else if on {
				n.out.Set(s.Name, "true")
			}
		case s.Kind == List && !s.Single:
			for word := range strings.FieldsSeq(value) {
				n.add(s, name, word)
			}
		default:
			n.add(s, name, value)
		}
	}
}

// misspelledVariable refuses a variable whose name is close to that of an option. Other
// variables may belong to other programs of the project.
func (n *normaliser) misspelledVariable(name string) {
	for _, s := range n.flags.Table.Specs() {
		if len(name) == len(envPrefix)+len(s.Name) && s.Env() == name {
			return // an option of another command
		}
	}
	for _, s := range n.flags.Specs {
		// The distance is at least the difference of the lengths.
		if d := len(name) - len(envPrefix) - len(s.Name); d < -2 || d > 2 || len(s.Name) <= 4 {
			continue
		}
		if distance(name, s.Env()) <= 2 {
			n.fault("%s: no option of this name: did you mean %s?", name, s.Env())
			return
		}
	}
}
