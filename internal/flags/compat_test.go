// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"testing"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/compat"
)

// An option of vw is in the table of flags if and only if its class in internal/compat is
// Works, and it takes as many values as vw's.
func TestListOfVWsOptionsAgrees(t *testing.T) {
	const same = "then write the page again: go test ./internal/compat -update"
	for _, o := range compat.All() {
		var s *cli.Spec
		for _, f := range Learn {
			if f.Name == o.Name {
				s = f
			}
		}
		switch {
		case o.Name == "metrics":
			// The option of vw with this name belongs to its LDA.
		case s != nil && o.Class != compat.Works:
			t.Errorf("--%s is an option of gvw: change its class to Works in internal/compat, %s", o.Name, same)
		case s == nil && o.Class == compat.Works:
			t.Errorf("--%s is no option of gvw: change its class in internal/compat, %s", o.Name, same)
		case s == nil:
		case s.Short != o.Short:
			t.Errorf("--%s has the letter %q, in vw %q", o.Name, s.Short, o.Short)
		case s.Kind == cli.Boolean != (o.Values == compat.None), s.Kind == cli.List != (o.Values == compat.Many):
			t.Errorf("--%s takes another number of values than vw's", o.Name)
		}
	}
}
