// SPDX-License-Identifier: Apache-2.0

package invariant_test

import (
	"testing"

	"github.com/gvw-project/gvw/internal/invariant"
)

func TestCheckPassesWhenItHolds(t *testing.T) {
	invariant.Check(true, "two is %d", 2)
}

func TestCheckPanicsWithTheFault(t *testing.T) {
	defer func() {
		const want = "BUG: 3 values into 2"
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	invariant.Check(false, "%d values into %d", 3, 2)
}

func TestGuardedCheckAllocatesNothing(t *testing.T) {
	if invariant.Enabled {
		return // the guarded statement exists in this build, so it may allocate
	}
	values := make([]int, 3)
	n := testing.AllocsPerRun(100, func() {
		if invariant.Enabled {
			invariant.Check(len(values) == 3, "%d values", len(values))
		}
	})
	if n != 0 {
		t.Errorf("%v allocations by a check that is compiled away", n)
	}
}
