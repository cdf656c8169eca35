// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package transport

import "math"

// FileLimit returns the limit of file descriptors of this process; math.MaxInt if
// there is none.
func FileLimit() int { return math.MaxInt }
