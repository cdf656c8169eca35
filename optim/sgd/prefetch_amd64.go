// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

package sgd

import "github.com/gvw-project/gvw/feature"

//go:noescape
func prefetchCells(cells *[4]float32, fs []feature.Feature)

// prefetch asks the processor to bring the weights of fs near, and does not wait.
func (t *table) prefetch(fs []feature.Feature) {
	if t.cells != nil {
		prefetchCells(&t.cells[0], fs)
	}
}
