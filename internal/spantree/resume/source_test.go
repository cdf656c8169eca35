// SPDX-License-Identifier: Apache-2.0

package resume

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The source for rank 0 among ranks 1, 2, …
func TestSource(t *testing.T) {
	type source struct {
		results bool
		path    Path
	}
	for name, c := range map[string]struct {
		sources []source
		want    int // 0: none
	}{
		"there is no source":              {},
		"all are equal":                   {[]source{{true, Clear}, {true, Clear}}, 1},
		"the second has the results":      {[]source{{false, Clear}, {true, Clear}}, 2},
		"the path to the first is bad":    {[]source{{true, Suspect}, {true, Clear}}, 2},
		"a clear path wins over results":  {[]source{{true, Suspect}, {false, Clear}}, 2},
		"all paths are suspect":           {[]source{{false, Suspect}, {true, Suspect}, {true, Suspect}}, 2},
		"the rank is cut off from one":    {[]source{{true, CutOff}, {false, Suspect}}, 2},
		"the rank is cut off from all":    {[]source{{true, CutOff}, {true, CutOff}}, 0},
		"a clear path after a cut-off":    {[]source{{true, CutOff}, {true, Suspect}, {false, Clear}}, 3},
		"results after a clear path, too": {[]source{{false, Clear}, {true, Suspect}, {true, Clear}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var all []Member
			for i, s := range c.sources {
				m := Member{Rank: i + 1, At: Point{protocol.Epoch{N: 1}, 7}}
				if !s.results {
					m.Fetched = m.At
				}
				all = append(all, m)
			}
			got, ok := Source(0, all, func(_, source int) Path { return c.sources[source-1].path })
			if ok != (c.want > 0) || ok && got.Rank != c.want {
				t.Errorf("the source is rank %d (%v), want %d", got.Rank, ok, c.want)
			}
		})
	}
}

// Properties of any epoch. No member is ahead of the resume point. A member is missing data if and
// only if it is not there. Its source is there, and it is not cut off from it unless it is from all.
func TestFindInArbitraryEpochs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 6).Draw(t, "size")
		point := rapid.Custom(func(t *rapid.T) Point {
			return Point{protocol.Epoch{Term: 1, N: uint32(rapid.IntRange(0, 2).Draw(t, "epoch"))}, uint64(rapid.IntRange(0, 3).Draw(t, "step"))}
		})
		var all []Member
		paths := map[[2]int]Path{}
		for r := range size {
			m := Member{Rank: r, At: point.Draw(t, "at"), Current: rapid.Bool().Draw(t, "current")}
			if rapid.Bool().Draw(t, "fetched") {
				m.Fetched = m.At
			}
			all = append(all, m)
			for s := range size {
				paths[[2]int{r, s}] = Path(rapid.IntRange(0, 2).Draw(t, "path"))
			}
		}
		path := func(rank, source int) Path { return paths[[2]int{rank, source}] }
		from, missing := Find(all, path)
		needs := map[int]protocol.Missing{}
		for _, l := range missing {
			needs[l.Rank] = l
		}
		for _, m := range all {
			if m.At.Compare(from) > 0 {
				t.Fatalf("rank %d is at %v, ahead of %v", m.Rank, m.At, from)
			}
			l, ok := needs[m.Rank]
			if ok == (m.At == from) {
				t.Fatalf("rank %d at %v is missing data: %v, and the epoch starts at %v", m.Rank, m.At, ok, from)
			}
			if !ok {
				continue
			}
			if s := all[l.Source]; s.At != from {
				t.Errorf("rank %d fetches from rank %d, which is at %v, not at %v", m.Rank, s.Rank, s.At, from)
			}
			if l.Payload == protocol.PayloadResults && (!all[l.Source].HasResults() || m.At.Step+1 != from.Step) {
				t.Errorf("rank %d at %v fetches results from %+v", m.Rank, m.At, all[l.Source])
			}
			if path(m.Rank, l.Source) != CutOff {
				continue
			}
			for _, s := range all {
				if s.At == from && path(m.Rank, s.Rank) != CutOff {
					t.Errorf("rank %d is cut off from rank %d, its source, and not from rank %d", m.Rank, l.Source, s.Rank)
				}
			}
		}
	})
}
