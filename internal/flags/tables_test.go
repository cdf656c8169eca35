// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"testing"

	"github.com/gvw-project/gvw/internal/cli"
)

// TestTables checks that the tables are consistent: no name, letter or variable occurs twice.
func TestTables(t *testing.T) {
	for _, specs := range [][]*cli.Spec{Learn, Run} {
		seen := map[string]bool{}
		for _, s := range specs {
			for _, n := range []string{s.Name, s.Short, s.Env()} {
				if n != "" && seen[n] {
					t.Errorf("%s occurs twice", n)
				}
				seen[n] = true
			}
			if (s.Arg == "") != (s.Kind == cli.Boolean) {
				t.Errorf("%s: arg %q does not fit its kind", s.Name, s.Arg)
			}
			if s.Def != "" {
				if _, err := s.Canonical(s.Def); err != nil {
					t.Errorf("%s: its default: %v", s.Name, err)
				}
			}
		}
	}
}
