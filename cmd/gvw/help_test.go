// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/flags"
)

// The first page of help fits one screen, and gvw --help all has every option.
func TestHelpIsOneScreen(t *testing.T) {
	table := commands()
	first, all := table.Learner.Page(false), table.Learner.Page(true)
	if n := strings.Count(first, "\n"); n > 52 {
		t.Errorf("%d lines, want at most 52", n)
	}
	for _, page := range []string{first, all, runHelp(nil, true)} {
		for line := range strings.Lines(page) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > cli.HelpWidth {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
	for _, c := range table.Commands {
		if !regexp.MustCompile(`(?m)^  gvw (.*\| )?` + c.Name + `( |$)`).MatchString(first) {
			t.Errorf("gvw %s is not on the first page", c.Name)
		}
	}
	for _, s := range flags.Learn {
		for name, page := range map[string]string{"first": first, "whole": all} {
			if s.More && name == "first" {
				continue // named there while there is room
			}
			if !strings.Contains(page, s.Spelled()) {
				t.Errorf("%s is not on the %s page", s.Spelled(), name)
			}
		}
		if s.Def != "" && !strings.Contains(strings.Join(strings.Fields(all), " "), "("+s.Def+")") {
			t.Errorf("the default of %s is not on the whole page", s.Spelled())
		}
	}
}

// The lines of a command's help fit common terminals: an example without its line break would be longer.
func TestHelpOfCommandsIsNarrow(t *testing.T) {
	const columns = 90
	for _, c := range commands().Commands {
		for _, s := range c.Sets {
			for line := range strings.Lines(s.Page(true)) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns {
					t.Errorf("%s: %d columns, want at most %d: %s", s.At, n, columns, line)
				}
			}
		}
	}
}
