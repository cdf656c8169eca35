// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package cost

import "time"

// ProcessTime returns 0: only Unix is measured.
func ProcessTime() time.Duration { return 0 }
