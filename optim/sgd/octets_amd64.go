// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

package sgd

import "github.com/gvw-project/gvw/feature"

// octets is the number of classes whose scores dotOctets sums at a time.
const octets = 3 * 8

// dotOctets sets the scores of eight classes each from 0, second and third on, to the bits of dotsEach. They may overlap.
// It stops before a feature of which one of the k classes is beyond the table; done is how far it came.
//
//go:noescape
func dotOctets(scores *float32, second, third int, cells [][4]float32, k int, fs *feature.Feature, n int, initial float32) (done int)

// dots4 sets the score of each class to initial plus Σ w·x, for weights of four floats.
func dots4(scores []float32, cells [][4]float32, fs []feature.Feature, initial float32) {
	if len(scores) < 8 || len(fs) == 0 || !hasFours {
		dotsEach(scores, cells, fs, initial)
		return
	}
	for lo := 0; lo < len(scores); lo += octets {
		from := max(0, min(lo, len(scores)-octets)) // the last classes may be summed twice
		part := scores[from:min(from+octets, len(scores))]
		last := len(part) - 8
		if done := dotOctets(&part[0], min(8, last), last, cells[from:], len(part), &fs[0], len(fs), initial); done < len(fs) {
			dotsEach(part, cells[from:], fs[done:], initial) // it panics, as a class is beyond the table
		}
	}
}
