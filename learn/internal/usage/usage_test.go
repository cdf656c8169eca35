// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"errors"
	"math"
	"testing"
)

// Faults of fields name them, those of several fields do not, and no fault is no error.
func TestFaults(t *testing.T) {
	var f Faults
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	f.Negative("Reg.L1", 0)
	f.Negative("Reg.L1", -1)
	f.Negative("Reg.L2", math.NaN())
	f.Negative("Reg.L2", math.Inf(1))
	f.Add("", "%d words", 2)
	const want = "learn.Config.Reg.L1: -1 is negative\nlearn.Config.Reg.L2: NaN is no number\n2 words"
	err := f.Err()
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if e, ok := errors.AsType[*Error](err); !ok || e.Field != "Reg.L1" {
		t.Errorf("the first fault is %+v", e)
	}
}
