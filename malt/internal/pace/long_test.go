// SPDX-License-Identifier: Apache-2.0

//go:build long

package pace

import "testing"

// TestNoDeadlockOnGraphsOfFive runs all 565,080 strongly connected digraphs of five ranks.
func TestNoDeadlockOnGraphsOfFive(t *testing.T) { smallGraphs(t, 5) }
