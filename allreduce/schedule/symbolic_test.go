// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strings"
	"testing"
)

// two returns programs of two ranks with the given steps, in the order of the list.
func two(first, second []Step) []*Program {
	return programs(2, func(rank int) *Program {
		b := newBuilder(2, rank, 8)
		for _, s := range [][]Step{first, second}[rank] {
			b.add(s.Act, s.Peer, s.Lo, s.Hi)
		}
		return b.seal()
	})
}

// Execute names the rule that a program breaks.
func TestExecuteFindsFaults(t *testing.T) {
	give, take := Step{Act: Give, Peer: 1, Hi: 8}, Step{Act: Take, Peer: 0, Hi: 8}
	cycle := two([]Step{{Act: Take, Peer: 1, Hi: 4}, {Act: Give, Peer: 1, Hi: 4}}, []Step{{Act: Take, Hi: 4}, {Act: Give, Hi: 4}})
	taken := two([]Step{{Act: Give, Peer: 1, Hi: 8}, {Act: Take, Peer: 1, Hi: 8}}, []Step{{Act: Give, Hi: 8}, {Act: Take, Hi: 8}})
	lost := two([]Step{give}, []Step{take})
	lost[1].Steps[0].Act, lost[0].Steps[0].Own = Above, false
	stranger := two([]Step{give}, []Step{take})
	stranger[1].Rank = 0
	outside := two([]Step{{Act: Give, Peer: 7, Hi: 8}}, nil)
	for want, bad := range map[string][]*Program{
		"rank 0 sends rank 1 1 messages: want 0":   two([]Step{give}, nil),
		"rank 1 sends rank 0 0 messages: want 1":   two([]Step{{Act: Below, Peer: 1, Hi: 8}}, nil),
		"bytes 0 to 8: want 0 to 4":                two([]Step{give}, []Step{{Act: Take, Hi: 4}}),
		"cycle: 2 events remain":                   cycle,
		"cycle: 2 events":                          taken, // both send first, and have no buffer to receive into
		"rank 0 sends bytes that it does not have": lost,
		"program 1 of 2 is for rank 0":             stranger,
		"rank 0 has a step with rank 7":            outside,
	} {
		if _, err := Execute(bad, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Execute returns %v, want %q", err, want)
		}
	}
}

// Agree is false where a rank gets nothing, or another sum than the others.
func TestOutcomesDiffer(t *testing.T) {
	o, err := Execute(two([]Step{{Act: Give, Peer: 1, Hi: 8}}, []Step{{Act: Above, Hi: 8}}), false)
	if err != nil {
		t.Fatal(err)
	}
	if o.Agree() || len(o.At(0)) != 0 || len(o.At(1)) != 1 || o.At(1)[0].String() != "(1+0)" {
		t.Errorf("ranks hold %v and %v, agree: %v", o.At(0), o.At(1), o.Agree())
	}
}

// A rank of the double tree sends a chunk only after it has received the result of
// the chunk that is windowOf chunks before.
func TestDoubleTreeKeepsItsWindow(t *testing.T) {
	s := Spec{Schedule: DoubleTree, Size: 1000, Bytes: 200 * 64, Chunk: 64}
	bound := 0
	p := s.AllReduce(1)
	for i, step := range p.Steps {
		for _, before := range step.After {
			x := p.Steps[before]
			if step.Act == Give && x.Act == Take && x.Hi <= step.Lo && x.Peer == step.Peer {
				if lead := (step.Lo - x.Lo) / 64; lead != windowOf(9) {
					t.Fatalf("step %d is %d chunks ahead, want %d", i, lead, windowOf(9))
				}
				bound++
			}
		}
	}
	if bound < 100 {
		t.Errorf("%d steps wait for results, want most of the 200 chunks'", bound)
	}
	if w := windowOf(9); w < 16 || w > 32 {
		t.Errorf("1,000 ranks may be %d chunks ahead, want 16 to 32", w)
	}
}
