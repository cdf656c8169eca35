// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"
)

// DivergeError reports that a sum over the data is infinite or not a number, so that no
// step can be computed from it.
type DivergeError struct {
	Pass   int    // from 1
	What   string // the sum: "loss", "gradient" …
	Weight int    // the first weight concerned; -1: the sum is one number
	Value  float64
}

func (e *DivergeError) Error() string {
	at := ""
	if e.Weight >= 0 {
		at = fmt.Sprintf(" at weight %d", e.Weight)
	}
	return fmt.Sprintf("pass %d: the %s%s is %v: the run diverged; look for feature values or labels out of range, and start from sound weights", e.Pass, e.What, at, e.Value)
}

// Finite reports whether v is a number and not infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
