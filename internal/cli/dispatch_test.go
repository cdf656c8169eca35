// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"
)

// A look-up of a flag calls Names of all flags, so Names must not allocate.
func TestFlagsKeepTheirNames(t *testing.T) {
	var specs []*Spec
	for k := Boolean; k <= Duration; k++ {
		specs = append(specs, &Spec{Name: string(rune('a' + k)), Kind: k})
	}
	for i, f := range cliFlags(specs) {
		if n := testing.AllocsPerRun(10, func() { f.Names() }); n != 0 {
			t.Errorf("names of --%s: %v allocations, want none", specs[i].Name, n)
		}
	}
}
