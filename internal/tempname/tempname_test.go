// SPDX-License-Identifier: Apache-2.0

package tempname

import (
	"os"
	"regexp"
	"testing"
)

// Names differ by host, by namespace and by process, and a process always has the same.
func TestNamesDiffer(t *testing.T) {
	form := regexp.MustCompile(`^\.writing-[0-9a-f]{8}-[0-9]+-$`)
	seen := map[string]bool{}
	for _, name := range []string{
		infix(digest("h", "pid:[1]"), 7), infix(digest("h", "pid:[1]"), 77), infix(digest("h", "pid:[2]"), 7), infix(digest("h2", "pid:[1]"), 7),
		Infix(7),
	} {
		if !form.MatchString(name) || seen[name] {
			t.Errorf("got %q, want another name of the form %v", name, form)
		}
		seen[name] = true
	}
	if a, b := Infix(os.Getpid()), Infix(os.Getpid()); a != b {
		t.Errorf("got %q and %q for one process", a, b)
	}
}
