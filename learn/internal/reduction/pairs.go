// SPDX-License-Identifier: Apache-2.0

package reduction

import "github.com/gvw-project/gvw/feature"

// PairsOnly is the Excludes of a learner that factorises pairs of namespaces.
func PairsOnly(s Setting) string {
	for _, set := range s.Interactions {
		if len(set) != 2 || set[0] == ':' || set[1] == ':' {
			return "it factorises pairs of namespaces without wildcards: give interactions of two namespaces only"
		}
	}
	return ""
}

// IgnoresLinear returns the fault of a learner for which vw's --ignore_linear changes more than the linear features; empty: the
// option is not given.
func IgnoresLinear(s Setting) string {
	if len(s.IgnoreLinear) > 0 {
		return "in vw learn.Config.Features.Namespaces.IgnoreLinear changes more than its linear features: leave one of them out"
	}
	return ""
}

// Side returns the features of a namespace. placed are those of the example.
func Side(b *feature.Batch, ex *feature.Example, placed []feature.Feature, ns byte) []feature.Feature {
	for _, s := range b.SpansOf(ex) {
		if s.NS == ns && s.Lo >= ex.FeatLo {
			return placed[s.Lo-ex.FeatLo : s.Hi-ex.FeatLo]
		}
	}
	return nil
}

// Squares returns the sum of the squared values.
func Squares(fs []feature.Feature) (sum float32) {
	for i := range fs {
		sum += float32(fs[i].Value * fs[i].Value)
	}
	return sum
}

// Uncrossed returns the number of the example's features before the products of interactions.
func Uncrossed(b *feature.Batch, ex *feature.Example) int {
	end := uint32(0)
	for _, s := range b.SpansOf(ex) {
		if s.Lo >= ex.FeatLo {
			end = max(end, s.Hi-ex.FeatLo)
		}
	}
	return int(end)
}
