// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"

	"github.com/gvw-project/gvw/internal/compat"
	"github.com/gvw-project/gvw/model"
)

// note prints one line for each option that does less than the user may expect: of
// those that gvw does not have, and of those that do nothing beside the others.
func (p *program) note(s *settings) {
	p.noteExtra(s)
	if !s.noting() {
		return
	}
	for _, f := range compat.Judge(compat.Cases(), s.all, s.has("initial_regressor")) {
		p.noteFinding(f)
	}
}

// noteExtra prints the notes on options that gvw does not have.
func (p *program) noteExtra(s *settings) {
	if !s.noting() {
		return
	}
	for _, o := range s.extra {
		if o.Class == compat.Noted {
			fmt.Fprintf(p.Stderr, "gvw: --%s: %s\n", o.Name, o.Remark)
		}
	}
}

func (p *program) noteFinding(f compat.Finding) {
	if f.Class == compat.Noted {
		fmt.Fprintf(p.Stderr, "gvw: %s: %s\n", f.Shown, f.Text)
	}
}

// takeData does what the function takeData does, and prints a note on files that are
// not read.
func (p *program) takeData(s *settings) {
	if unread := takeData(s); len(unread) > 0 && s.noting() {
		fmt.Fprintf(p.Stderr, "gvw: %s: not read, as in vw, which reads one file: give one -d for each file, and no file without\n", strings.Join(unread, ", "))
	}
}

// noting reports whether notes are printed.
func (s *settings) noting() bool { return logLevel(s.has("quiet"), s.get("log_level")) <= noteLevel }

// checkLoaded returns the check of what an initial model brings along: the cases that
// were left open until it was read.
func (p *program) checkLoaded(c *cli.Context) func([]model.Option) error {
	given := func(name string) []string {
		switch {
		case !c.IsSet(name):
			return nil
		case c.StringSlice(name) != nil:
			return c.StringSlice(name)
		}
		return []string{fmt.Sprint(c.Value(name))}
	}
	before := compat.Judge(compat.Cases(), given, true)
	noting := logLevel(c.Bool("quiet"), c.String("log_level")) <= noteLevel
	return func(kept []model.Option) error {
		with := func(name string) []string {
			if values := given(name); len(values) > 0 || !slices.Contains(compat.Kept, name) {
				return values
			}
			var values []string
			for _, o := range kept {
				if o.Name == name {
					values = append(values, o.Value)
				}
			}
			return values
		}
		var faults []error
		for _, f := range compat.Judge(compat.Cases(), with, false) {
			switch {
			case slices.ContainsFunc(before, f.Same):
			case f.Class == compat.Refused:
				faults = append(faults, refusal(f, ""))
			case noting:
				p.noteFinding(f)
			}
		}
		return errors.Join(faults...)
	}
}
