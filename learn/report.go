// SPDX-License-Identifier: Apache-2.0

package learn

import "github.com/gvw-project/gvw/learn/internal/vwtext"

type (
	// Report is the outcome of a run.
	Report = vwtext.Report
	// Stats are vw's running sums over the examples of a run, on one rank or over
	// all of them. Weighted sums are sums of importance weights.
	Stats = vwtext.Stats
)
