// SPDX-License-Identifier: Apache-2.0

package core

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The resume point of an epoch, and the data that its members are missing there.
func TestResumePoint(t *testing.T) {
	e := func(n uint32) protocol.Epoch { return protocol.Epoch{Term: 1, N: n} }
	now := e(3)
	type seat struct {
		wired, at protocol.Epoch
		step      uint64
		given     bool // it was sent the state of that step
		ckpt      uint64
	}
	for name, c := range map[string]struct {
		seats []seat
		from  point
		lacks []protocol.Missing
	}{
		"nobody has anything":            {seats: []seat{{wired: now}, {}}},
		"all are at one point":           {seats: []seat{{now, e(3), 7, false, 0}, {now, e(3), 7, false, 0}}, from: point{e(3), 7}},
		"one is a step behind":           {[]seat{{now, e(3), 6, false, 0}, {now, e(3), 7, false, 0}}, point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadResults}}},
		"one is behind by more":          {[]seat{{now, e(3), 5, false, 0}, {now, e(3), 7, false, 0}}, point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadState}}},
		"one is new":                     {[]seat{{}, {now, e(3), 7, false, 0}}, point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadState}}},
		"one is of an older epoch":       {[]seat{{e(2), e(2), 6, false, 0}, {now, e(3), 7, false, 0}}, point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadState}}},
		"an older epoch's larger number": {[]seat{{e(2), e(2), 9, false, 0}, {now, e(3), 7, false, 0}}, point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadState}}},
		"the lowest that has it is the source": {
			[]seat{{now, e(3), 6, false, 0}, {now, e(3), 7, false, 0}, {now, e(3), 7, false, 0}}, point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadResults}},
		},
		"the lowest that has results, too": {
			[]seat{{now, e(3), 6, false, 0}, {now, e(3), 7, true, 0}, {now, e(3), 7, false, 0}}, point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 2, Payload: protocol.PayloadResults}},
		},
		"there are no results to be had": {
			[]seat{{now, e(3), 6, false, 0}, {now, e(3), 7, true, 0}}, point{e(3), 7}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadState}},
		},
		"a checkpoint":                 {[]seat{{now, protocol.Epoch{}, 0, false, 4}, {}}, point{step: 4}, []protocol.Missing{{Rank: 0, Source: 0, Payload: protocol.PayloadCheckpoint}, {Rank: 1, Source: 0, Payload: protocol.PayloadState}}},
		"a checkpoint that is read":    {[]seat{{}, {now, protocol.Epoch{}, 4, true, 0}}, point{step: 4}, []protocol.Missing{{Rank: 0, Source: 1, Payload: protocol.PayloadState}}},
		"a step wins over checkpoints": {[]seat{{now, e(1), 2, false, 9}, {now, protocol.Epoch{}, 4, true, 0}}, point{e(1), 2}, []protocol.Missing{{Rank: 1, Source: 0, Payload: protocol.PayloadState}}},
	} {
		t.Run(name, func(t *testing.T) {
			j := &job{epoch: now, agreement: agreement{total: len(c.seats)}, holders: map[int]*attempt{}}
			for r, s := range c.seats {
				a := &attempt{job: j, rank: r}
				a.wired, a.position, a.checkpoint = s.wired, point{s.at, s.step}, s.ckpt
				if s.given {
					a.fetchedState = a.position
				}
				j.holders[r] = a
			}
			from, lacks := j.resumePoint()
			if from != c.from {
				t.Errorf("it resumes at %v, want %v", from, c.from)
			}
			if d := cmp.Diff(c.lacks, lacks); d != "" {
				t.Errorf("missing data, -want +got:\n%s", d)
			}
		})
	}
}
