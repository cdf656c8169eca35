// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Case determines how gvw treats an option beside others, or with a value.
type Case struct {
	Options string // names, separated by blanks: the case holds for each of them
	Value   string // regular expression of the whole value; empty: any value
	With    string // requirements, separated by blanks: all are met; see [Case.met]
	Without string // names and name=value, separated by blanks: none is given
	Class   Class  // Silent, Noted or Refused
	Text    string // reason, or remedy
	Example string // command line of the case, for tests; those that prepare files end with " ;; "
}

// Given returns the values of an option: none if it was not given, and "true" of one
// that takes none.
type Given func(option string) []string

// Finding is a case that holds for an option of a command line.
type Finding struct {
	*Case
	Option string
	Shown  string // start of a message: the option with its value, and the options beside it
}

// Same reports whether both findings are of one case and option. All notes of an option count as
// the same, since an option gets one note.
func (f Finding) Same(other Finding) bool {
	return f.Option == other.Option && (f.Case == other.Case || f.Class == Noted && other.Class == Noted)
}

// Kept are the options in conditions of cases that a model file may contain.
var Kept = append([]string{"bfgs", "conjugate_gradient", "ftrl", "pistol", "coin", "freegrad", "oaa", "ngram", "quadratic", "cubic", "interactions"}, composedNames()...)

// Judge returns the cases that hold for a command line, in the order of the table.
// If loads is true, an initial model will be read later. Judge then leaves out a case that
// depends on the absence of an option that the model may contain.
func Judge(cases []Case, given Given, loads bool) []Finding {
	var found []Finding
	for i := range cases {
		c := &cases[i]
		beside, ok := c.met(given)
		if !ok || !c.missing(given, loads) {
			continue
		}
		for option := range strings.FieldsSeq(c.Options) {
			values := given(option)
			j := slices.IndexFunc(values, c.matches)
			if j < 0 {
				continue
			}
			f := Finding{Case: c, Option: option, Shown: c.shown(option, values[j], beside)}
			if !slices.ContainsFunc(found, f.Same) {
				found = append(found, f)
			}
		}
	}
	return found
}

// matches reports whether a value is one of the case's.
func (c *Case) matches(value string) bool {
	return c.Value == "" || regexp.MustCompile(`^(?:`+c.Value+`)$`).MatchString(value)
}

// met reports whether all requirements of With are met, and returns the options that
// meet them. Of alternatives, written a|b, one is enough. A requirement is a name,
// name=value, or two options whose values compare: a!=b, a>=b, a>b.
func (c *Case) met(given Given) (by []string, ok bool) {
	for requirement := range strings.FieldsSeq(c.With) {
		i := slices.IndexFunc(alternatives(requirement), func(term string) bool { return holds(term, given) })
		if i < 0 {
			return nil, false
		}
		switch name, rest := cutTerm(alternatives(requirement)[i]); {
		case rest == "":
			by = append(by, name)
		case rest[0] == '=':
			by = append(by, name+" "+rest[1:])
		}
	}
	return by, true
}

// missing reports whether no option in Without is given, or can come from a model.
func (c *Case) missing(given Given, loads bool) bool {
	for term := range strings.FieldsSeq(c.Without) {
		if holds(term, given) || loads && slices.Contains(Kept, term) {
			return false
		}
	}
	return true
}

// alternatives returns the terms of a requirement.
func alternatives(requirement string) []string { return strings.Split(requirement, "|") }

// operators compare options; the longer ones come first.
var operators = []string{"!=", ">=", ">", "="}

// cutTerm splits a term at its operator.
func cutTerm(term string) (name, rest string) {
	if i := strings.IndexAny(term, "!>="); i >= 0 {
		return term[:i], term[i:]
	}
	return term, ""
}

// holds reports whether a term is true for the given options. A comparison is false if either
// option is missing.
func holds(term string, given Given) bool {
	name, rest := cutTerm(term)
	values := given(name)
	if len(values) == 0 || rest == "" {
		return len(values) > 0
	}
	var operator string
	for _, o := range operators {
		if strings.HasPrefix(rest, o) {
			operator = o
			break
		}
	}
	operand := strings.TrimPrefix(rest, operator)
	if operator == "=" {
		return slices.Contains(values, operand)
	}
	other := given(operand)
	if len(other) == 0 {
		return false
	}
	if operator == "!=" {
		return values[0] != other[0]
	}
	a, err1 := strconv.ParseFloat(values[0], 64)
	b, err2 := strconv.ParseFloat(other[0], 64)
	return err1 == nil && err2 == nil && (a > b || operator == ">=" && a == b)
}

// shown returns the start of a message about an option.
func (c *Case) shown(option, value string, beside []string) string {
	text := "--" + option
	if c.Value != "" {
		text += " " + value
	}
	switch {
	case len(beside) > 0:
		text += " with --" + strings.Join(beside, " --")
	case c.Value == "" && c.Without != "":
		text += " without " + orList(c.Without)
	}
	return text
}

// orList returns the names of options with "or" between them.
func orList(terms string) string {
	return "--" + strings.ReplaceAll(strings.Join(strings.Fields(terms), " or --"), "=", " ")
}

// Names returns the options that a case names.
func (c *Case) Names() []string {
	names := strings.Fields(c.Options)
	for _, requirement := range append(strings.Fields(c.With), strings.Fields(c.Without)...) {
		for _, term := range alternatives(requirement) {
			name, rest := cutTerm(term)
			names = append(names, name)
			if rest != "" && rest[0] != '=' {
				names = append(names, strings.TrimLeft(rest, "!>="))
			}
		}
	}
	return names
}
