// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package transport

import "math"

// FileLimit returns how many file descriptors this process may have open, math.MaxInt if
// there is no limit.
func FileLimit() int { return math.MaxInt }
