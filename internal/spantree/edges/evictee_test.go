// SPDX-License-Identifier: Apache-2.0

package edges

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The end of the edge between b and c that is evicted. C is a later attempt of rank c.
func TestEvictee(t *testing.T) {
	const ends = "bc"
	for name, c := range map[string]struct {
		unopened []string // connections that did not open in the epoch
		charges  []string // oldest first
		open     map[string]int
		want     string // "": both stay
	}{
		"the first charge":                                {charges: []string{"bc"}},
		"the second one":                                  {charges: []string{"bc", "bc"}, want: "c"},
		"the second one, seen from the other end":         {charges: []string{"bc", "cb"}, want: "c"},
		"the first charge, c misses another connection":   {unopened: []string{"bc", "dc"}, charges: []string{"bc"}, want: "c"},
		"the first charge, b misses another connection":   {unopened: []string{"bc", "ba"}, charges: []string{"bc"}, want: "b"},
		"both ends ask":                                   {unopened: []string{"bc", "cb"}, charges: []string{"bc"}},
		"each end misses another connection":              {unopened: []string{"bc", "ba", "dc"}, charges: []string{"bc"}},
		"and again":                                       {unopened: []string{"bc", "ba", "dc"}, charges: []string{"bc", "bc"}, want: "c"},
		"b has an older charge with a, and c misses d":    {unopened: []string{"bc", "dc"}, charges: []string{"ab", "bc"}, want: "c"},
		"b has an older charge with a":                    {charges: []string{"ab", "bc"}, want: "b"},
		"a peer of b has as many charges as b":            {charges: []string{"ab", "ad", "bc"}},
		"b has more charges than c":                       {charges: []string{"ab", "ad", "bc", "bc"}, want: "b"},
		"an earlier attempt of c was charged with b":      {charges: []string{"bC", "bC", "bc"}, want: "b"},
		"an edge elsewhere does not open":                 {unopened: []string{"bc", "ad"}, charges: []string{"bc"}},
		"a peer misses as many connections as c":          {unopened: []string{"bc", "dc", "da"}, charges: []string{"bc"}},
		"c misses three connections, and one of them two": {unopened: []string{"bc", "dc", "ec", "da"}, charges: []string{"bc"}, want: "c"},
		"other connections of c have opened":              {unopened: []string{"bc"}, charges: []string{"bc", "bc"}, open: map[string]int{"c": 1}, want: "b"},
		"a connection of b opens only at the second time": {unopened: []string{"bc", "ba"}, charges: []string{"bc", "bc"}, want: "b"},
	} {
		t.Run(name, func(t *testing.T) {
			edges := func(list []string) (all [][2]string) {
				for _, e := range list {
					all = append(all, [2]string{e[:1], e[1:]})
				}
				return all
			}
			got := ""
			if a := Evictee([2]string{ends[:1], ends[1:]}, edges(c.unopened), edges(c.charges), c.open); a != nil {
				got = *a
			}
			if got != c.want {
				t.Errorf("%q is evicted, want %q", got, c.want)
			}
		})
	}
}

// Properties of any edges. Either an end of the edge is evicted, or both stay. The order and the
// direction of the other edges have no influence.
func TestEvicteeOfArbitraryEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		edge := rapid.Custom(func(t *rapid.T) [2]int {
			a := rapid.IntRange(0, 5).Draw(t, "a")
			return [2]int{a, (a + rapid.IntRange(1, 5).Draw(t, "b")) % 6}
		})
		ends := edge.Draw(t, "ends")
		unopened := rapid.SliceOfN(edge, 0, 6).Draw(t, "unopened")
		charges := append(rapid.SliceOfN(edge, 0, 8).Draw(t, "charges"), ends)
		open := rapid.MapOf(rapid.IntRange(0, 5), rapid.IntRange(0, 3)).Draw(t, "open")
		got := Evictee(ends, unopened, charges, open)
		if got != nil && *got != ends[0] && *got != ends[1] {
			t.Fatalf("rank %d is evicted for the edge %v", *got, ends)
		}
		turned := slices.Clone(charges)
		for i := range turned {
			if rapid.Bool().Draw(t, "turn") {
				turned[i] = [2]int{turned[i][1], turned[i][0]}
			}
		}
		slices.Reverse(turned)
		again := Evictee(ends, unopened, turned, open)
		if (got == nil) != (again == nil) || got != nil && *got != *again {
			t.Fatalf("charges %v evict %v, in another order %v", charges, got, again)
		}
	})
}
