// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

package sgd

import "github.com/gvw-project/gvw/feature"

// prefetchWeights prefetches the weights of fs, of 2^shift bytes each, from w on.
//
//go:noescape
func prefetchWeights(w *float32, shift uint, fs []feature.Feature)

// prefetch prefetches the weights of fs into the cache, without waiting.
func (t *table) prefetch(fs []feature.Feature) {
	shift := uint(2)
	if t.cells != nil {
		shift = 4
	}
	prefetchWeights(&t.w[0], shift, fs)
}

// prefetchBuckets prefetches the bucket of each feature, which home returns.
//
//go:noescape
func prefetchBuckets(slots *uint64, buckets int, fs []feature.Feature)
