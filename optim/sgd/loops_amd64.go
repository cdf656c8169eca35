// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

package sgd

import "github.com/gvw-project/gvw/feature"

// dotFours is dotEach for the first n features, a multiple of four, to the same bits. For four of them it prefetches the
// weights of per features of next, as long as so many are left. It stops before four of which one is beyond the
// table; done is how far it came.
//
//go:noescape
func dotFours(cells [][4]float32, fs *feature.Feature, n int, next []feature.Feature, per int, p float32) (done, fetched int, sum float32)

// dotSingles is dotFours for weights of one float, to the same bits as dotOneEach.
//
//go:noescape
func dotSingles(w []float32, fs *feature.Feature, n int, next []feature.Feature, per int, p float32) (done, fetched int, sum float32)

// applyFours is applyEach for the first n features, a multiple of four, to the same bits. For four of them it
// prefetches the weight of one feature of next. It stops as dotFours does. rate is at most 3.
//
//go:noescape
func applyFours(cells [][4]float32, fs *feature.Feature, n, rate int, next []feature.Feature, u float32) (done, fetched int)

func dot4(t *table, fs []feature.Feature, a *ahead, p, _ float32) float32 {
	if n := len(fs) &^ 3; n > 0 {
		done, fetched, sum := dotFours(t.cells, &fs[0], n, a.fs, a.perDot, p)
		fs, a.fs, p = fs[done:], a.fs[fetched:], sum
	}
	return dotEach(t, fs, p)
}

func dot1(t *table, fs []feature.Feature, a *ahead, p, _ float32) float32 {
	if n := len(fs) &^ 3; n > 0 {
		done, fetched, sum := dotSingles(t.w, &fs[0], n, a.fs, a.perDot, p)
		fs, a.fs, p = fs[done:], a.fs[fetched:], sum
	}
	return dotOneEach(t, fs, p)
}

func apply4(t *table, fs []feature.Feature, a *ahead, u float32) {
	if n := len(fs) &^ 3; n > 0 {
		done, fetched := applyFours(t.cells, &fs[0], n, t.rate&3, a.fs, u)
		fs, a.fs = fs[done:], a.fs[fetched:]
	}
	applyEach(t, fs, u)
}
