// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
)

// A look-up of a flag asks all flags for their names, so names are not computed.
func TestFlagsKeepTheirNames(t *testing.T) {
	var specs []*spec
	for k := boolean; k <= duration; k++ {
		specs = append(specs, &spec{name: string(rune('a' + k)), kind: k})
	}
	for i, f := range cliFlags(specs) {
		if n := testing.AllocsPerRun(10, func() { f.Names() }); n != 0 {
			t.Errorf("names of --%s: %v allocations, want none", specs[i].name, n)
		}
	}
}
