// SPDX-License-Identifier: Apache-2.0

package resume

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The resume point of an epoch, and the data that its members are missing there.
func TestFind(t *testing.T) {
	e := func(n uint32) protocol.Epoch { return protocol.Epoch{Term: 1, N: n} }
	now := e(3)
	type rank struct {
		wired, at  protocol.Epoch
		step       uint64
		fetched    bool   // it was sent the state of that step
		checkpoint uint64 // step of its checkpoint; 0: none
	}
	for name, c := range map[string]struct {
		ranks   []rank
		from    Point
		missing []protocol.Missing
	}{
		"no rank has a step":             {ranks: []rank{{wired: now}, {}}},
		"all are at one point":           {ranks: []rank{{now, e(3), 7, false, 0}, {now, e(3), 7, false, 0}}, from: Point{e(3), 7}},
		"one is a step behind":           {[]rank{{now, e(3), 6, false, 0}, {now, e(3), 7, false, 0}}, Point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadResults}}},
		"one is behind by more":          {[]rank{{now, e(3), 5, false, 0}, {now, e(3), 7, false, 0}}, Point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadState}}},
		"one is new":                     {[]rank{{}, {now, e(3), 7, false, 0}}, Point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadState}}},
		"one is of an older epoch":       {[]rank{{e(2), e(2), 6, false, 0}, {now, e(3), 7, false, 0}}, Point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadState}}},
		"an older epoch's larger number": {[]rank{{e(2), e(2), 9, false, 0}, {now, e(3), 7, false, 0}}, Point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadState}}},
		"the lowest that has it is the source": {
			[]rank{{now, e(3), 6, false, 0}, {now, e(3), 7, false, 0}, {now, e(3), 7, false, 0}}, Point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadResults}},
		},
		"the lowest that has results, too": {
			[]rank{{now, e(3), 6, false, 0}, {now, e(3), 7, true, 0}, {now, e(3), 7, false, 0}}, Point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 2, Payload: protocol.PayloadResults}},
		},
		"there are no results to be had": {
			[]rank{{now, e(3), 6, false, 0}, {now, e(3), 7, true, 0}}, Point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadState}},
		},
		"a checkpoint":                 {[]rank{{now, protocol.Epoch{}, 0, false, 4}, {}}, Point{Step: 4}, []protocol.Missing{{Rank: 0, Source: 0, Payload: protocol.PayloadCheckpoint}, {Rank: 1, Source: 0, Payload: protocol.PayloadState}}},
		"a checkpoint that is read":    {[]rank{{}, {now, protocol.Epoch{}, 4, true, 0}}, Point{Step: 4}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadState}}},
		"a step wins over checkpoints": {[]rank{{now, e(1), 2, false, 9}, {now, protocol.Epoch{}, 4, true, 0}}, Point{e(1), 2}, []protocol.Missing{{Rank: 1, Source: 0, Payload: protocol.PayloadState}}},
	} {
		t.Run(name, func(t *testing.T) {
			var all []Member
			for r, s := range c.ranks {
				m := Member{Rank: r, At: Point{s.at, s.step}, Current: s.wired == now, Checkpoint: s.checkpoint}
				if s.fetched {
					m.Fetched = m.At
				}
				all = append(all, m)
			}
			from, missing := Find(all, func(int, int) Path { return Clear })
			if from != c.from {
				t.Errorf("it resumes at %v, want %v", from, c.from)
			}
			if d := cmp.Diff(c.missing, missing); d != "" {
				t.Errorf("missing data, -want +got:\n%s", d)
			}
		})
	}
}
