// SPDX-License-Identifier: Apache-2.0

package tests

import "testing"

// TestReportsPage runs the commands of docs/reports.md and looks for the lines that it shows.
func TestReportsPage(t *testing.T) {
	t.Parallel()
	testConsole(t, "../docs/reports.md", 4, "../quickstart")
}
