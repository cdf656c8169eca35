// SPDX-License-Identifier: Apache-2.0

package vectors

import fig "github.com/gvw-project/gvw/bench/internal/figure"

type (
	figure = fig.Figure
	line   = fig.Line
	point  = fig.Point
)
