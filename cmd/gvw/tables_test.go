// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
)

// The tables hold together: no name, letter or variable twice.
func TestTables(t *testing.T) {
	for _, specs := range [][]*spec{learnFlags, runFlags} {
		seen := map[string]bool{}
		for _, s := range specs {
			for _, n := range []string{s.name, s.short, s.env()} {
				if n != "" && seen[n] {
					t.Errorf("%s is there twice", n)
				}
				seen[n] = true
			}
			if (s.arg == "") != (s.kind == boolean) {
				t.Errorf("%s: arg %q does not fit its kind", s.name, s.arg)
			}
			if s.def != "" {
				if _, err := s.canonical(s.def); err != nil {
					t.Errorf("%s: its default: %v", s.name, err)
				}
			}
		}
	}
}
