// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/manual"
)

// The manual and the completions are made of the help page: every option that the help names is
// one that the server takes, with or without a value as the help has it, and there is no other.
func TestManualOfHelp(t *testing.T) {
	t.Parallel()
	p := manual.FromHelp("spanning_tree", 8, help)
	var names []string
	for _, s := range p.Own.Options {
		names = append(names, s.Name)
		var o options
		if flag := o.flag(s.Name) != nil; flag != (s.Kind == cli.Boolean) {
			t.Errorf("--%s is a flag: %v, in the manual %v", s.Name, flag, s.Kind == cli.Boolean)
		}
		if _, ok := o.setter(s.Name); !ok && s.Kind != cli.Boolean {
			t.Errorf("--%s is in the manual, but the server does not take it", s.Name)
		}
		if s.Help == "" {
			t.Errorf("--%s has no help", s.Name)
		}
	}
	for _, name := range slices.Concat(known, boundNames) {
		if !slices.Contains(names, name) {
			t.Errorf("the manual lacks --%s", name)
		}
	}
	if want := "The server through which the workers of cluster jobs (vw and gvw) find each other"; p.Own.Summary != want {
		t.Errorf("summary: got %q, want %q", p.Own.Summary, want)
	}
	if s := p.Own.Options[0]; s.Short != "p" || s.Name != "port" || s.Arg != "N" || !strings.HasSuffix(s.Help, "printed to stdout)") {
		t.Errorf("the first option: %+v", s)
	}
	if !strings.Contains(p.Own.After, "SIGTERM ends the server") {
		t.Errorf("after the options: %q", p.Own.After)
	}
}
