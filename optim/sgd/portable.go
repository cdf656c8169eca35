// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || noasm

package sgd

import "github.com/gvw-project/gvw/feature"

// These functions replace those of the files *_amd64.go on other processors, to the same bits.

func accumulateBoth(t *table, fs []feature.Feature, _ *ahead, g2 float32, sum sums) sums {
	return senseEach(t, fs, g2, sum)
}

// translateSome is translateEach.
func (n *numbers) translateSome(dst, src []feature.Feature, adds bool) (done int) {
	return n.translateEach(dst, src, adds)
}

func dot4(t *table, fs []feature.Feature, _ *ahead, p, _ float32) float32 { return dotEach(t, fs, p) }

func apply4(t *table, fs []feature.Feature, _ *ahead, u float32) { applyEach(t, fs, u) }

func dot1(t *table, fs []feature.Feature, _ *ahead, p, _ float32) float32 {
	return dotOneEach(t, fs, p)
}

func dots4(scores []float32, cells [][4]float32, fs []feature.Feature, initial float32) {
	dotsEach(scores, cells, fs, initial)
}

func (t *table) prefetch([]feature.Feature) {}

func prefetchBuckets(*uint64, int, []feature.Feature) {}
