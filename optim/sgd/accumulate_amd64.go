// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

package sgd

import (
	"golang.org/x/sys/cpu"

	"github.com/gvw-project/gvw/feature"
)

// hasFours reports whether accumulateFours can be used.
var hasFours = cpu.X86.HasAVX

// accumulateFours is senseEach for the first n features, a multiple of four, to the same
// bits. For four of them it prefetches the weights of perSense features of next, as long as so many
// are left. It stops before four that it leaves to senseEach: those that have a weight
// twice, or one that no rule makes; done is how far it came.
//
//go:noescape
func accumulateFours(cells [][4]float32, fs *feature.Feature, n int, g2 float32, sum *sums, next []feature.Feature) (done, fetched int)

// accumulateBoth returns the default rule's loop, the one that matters most: roots and
// divisions of four features at a time.
func accumulateBoth(t *table, fs []feature.Feature, a *ahead, g2 float32, sum sums) sums {
	for hasFours && len(fs) >= 4 {
		done, fetched := accumulateFours(t.cells, &fs[0], len(fs)&^3, g2, &sum, a.fs)
		a.fs = a.fs[fetched:]
		if fs = fs[done:]; len(fs) < 4 {
			break
		}
		sum = senseEach(t, fs[:4], g2, sum)
		fs = fs[4:]
	}
	return senseEach(t, fs, g2, sum)
}
