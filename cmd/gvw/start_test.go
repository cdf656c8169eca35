// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Every process of gvw pays for the initialisation of all packages, whichever command it runs.
// Tables that few commands need and regular expressions are therefore made at first use. The
// table of options is the largest that every command needs.
func TestStartMakesFewTables(t *testing.T) {
	const (
		module     = "github.com/gvw-project/gvw/"
		mostAllocs = 100 // of a package; a small regular expression takes about 50
	)
	allowed := map[string]int{
		module + "internal/flags":           800, // the table of options
		module + "internal/monitor/metrics": 300, // descriptions of the metrics of a server
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	seen := 0
	for line := range strings.Lines(string(text)) {
		// init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs
		var name string
		var at, took float64
		var bytes, allocs int
		if _, err := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &name, &at, &took, &bytes, &allocs); err != nil || !strings.HasPrefix(name, module) || strings.Contains(name, ".test") || name == module+"cmd/gvw" {
			continue
		}
		seen++
		if most := max(mostAllocs, allowed[name]); allocs > most {
			t.Errorf("the initialisation of %s allocates %d times (%d bytes), want at most %d: make its tables at first use, as with sync.OnceValue", name, allocs, bytes, most)
		}
	}
	if seen == 0 {
		t.Errorf("no package of %s in the trace of the initialisation:\n%s", module, text)
	}
}
