// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"strings"
	"testing"
)

// The commands of docs/solvers.md, run in order, have the effects that it describes.
func TestSolversPage(t *testing.T) {
	t.Parallel()
	page := openPage(t, "solvers.md")
	commands := page.commands()
	for _, line := range commands {
		r := page.shell(t, line)
		var want []string
		switch {
		case strings.HasPrefix(line, "GVW_FAULT="):
			want = []string{"rank 2 has ended"}
		case strings.Contains(line, "--solver newton"):
			want = []string{"solver=Newton", "Termination condition reached"}
		case strings.Contains(line, "--solver giant"):
			want = []string{"solver=GIANT", "Termination condition reached"}
		case strings.Contains(line, "--solver auto"):
			want = []string{"allreduce_seconds="}
		}
		for _, w := range want {
			if !strings.Contains(r.stderr, w) {
				t.Errorf("%s\n%s\nwant %q", line, r.stderr, w)
			}
		}
	}
	if len(commands) != 6 {
		t.Errorf("%d commands, want 6", len(commands))
	}
}
