// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

package sgd

import "github.com/gvw-project/gvw/feature"

//go:noescape
func prefetchCells(cells *[4]float32, fs []feature.Feature)

// prefetch prefetches the weights of fs into the cache, without waiting.
func (t *table) prefetch(fs []feature.Feature) {
	if t.cells != nil {
		prefetchCells(&t.cells[0], fs)
	}
}

// prefetchSlots prefetches the first slot of each feature, which home returns.
//
//go:noescape
func prefetchSlots(slots *uint64, n int, fs []feature.Feature)
