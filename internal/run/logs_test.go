// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLastLines(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(lastLines(name, 2), "|"); got != "line 4998|line 4999" {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := lastLines(name, 2); got != nil {
		t.Errorf("an empty file has the last lines %q", got)
	}
}
