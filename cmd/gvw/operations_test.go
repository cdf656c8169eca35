// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// docs/operations.md lists every exit code, and every code of a refusal by the server.
func TestOperationsPageHasEveryCode(t *testing.T) {
	b, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, code := range []int{0, cli.ExitUsage, cli.ExitData, cli.ExitLost, cli.ExitDeadline, cli.ExitIO, cli.ExitRefused, fault.DefaultCode} {
		if !strings.Contains(page, fmt.Sprintf("\n| %d | ", code)) {
			t.Errorf("no row for exit code %d", code)
		}
	}
	last := protocol.Code(0)
	for code := protocol.Code(1); code < 1000; code++ {
		name := code.String()
		if strings.ContainsAny(name, "0123456789") && !strings.Contains(name, "IPv4") {
			continue // no such code
		}
		last = code
		if !strings.Contains(page, fmt.Sprintf("\n| %d | %s | ", code, name)) {
			t.Errorf("no row for refusal %d, %s", code, name)
		}
	}
	if last < protocol.NoSuchJob {
		t.Errorf("the last refusal with a name is %d", last)
	}
}
