// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"strings"
	"testing"
)

// The commands of docs/averaging.md, run in order, have the effects that it describes.
func TestAveragingPage(t *testing.T) {
	t.Parallel()
	page := openPage(t, "averaging.md")
	commands := page.commands()
	for _, line := range commands {
		r := page.shell(t, line)
		switch {
		case strings.Contains(line, " -t "):
			const want = "0.966425"
			if !strings.Contains(page.text, "The accuracy on the test file is "+want+".") || !strings.Contains(r.stderr, "accuracy = "+want) {
				t.Errorf("the page and the command do not agree on accuracy %s:\n%s", want, r.stderr)
			}
		case strings.HasPrefix(line, "GVW_FAULT="):
			if !strings.Contains(r.stderr, "rank 2 has ended") {
				t.Errorf("no rank was lost:\n%s", r.stderr)
			}
		}
	}
	if len(commands) != 10 {
		t.Errorf("%d commands, want 10", len(commands))
	}
}
