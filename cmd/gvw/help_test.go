// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// The first page of help is one screen; every option is on the whole one.
func TestHelpIsOneScreen(t *testing.T) {
	table := commands()
	first, all := table.learner.page(false), table.learner.page(true)
	if n := strings.Count(first, "\n"); n > 52 {
		t.Errorf("%d lines do not fit a screen", n)
	}
	for _, page := range []string{first, all, runHelp(nil, true)} {
		for line := range strings.Lines(page) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > helpWidth {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
	for _, c := range table.commands {
		if !regexp.MustCompile(`(?m)^  gvw (.*\| )?` + c.name + `( |$)`).MatchString(first) {
			t.Errorf("gvw %s is not on the first page", c.name)
		}
	}
	for _, s := range learnFlags {
		for name, page := range map[string]string{"first": first, "whole": all} {
			if s.more && name == "first" {
				continue // named there while there is room
			}
			if !strings.Contains(page, s.spelled()) {
				t.Errorf("%s is not on the %s page", s.spelled(), name)
			}
		}
		if s.def != "" && !strings.Contains(strings.Join(strings.Fields(all), " "), "("+s.def+")") {
			t.Errorf("the default of %s is not on the whole page", s.spelled())
		}
	}
}
