// SPDX-License-Identifier: Apache-2.0

package cause

import (
	"fmt"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/plain"
)

// calls returns the collectives of a rank in an epoch, oldest first.
func (r *Rank) calls(epoch uint64) (calls []events.Event) {
	in := true // its ring may no longer hold the start of the epoch
	for _, e := range r.Events {
		switch e.Kind {
		case events.Epoch:
			if in = e.Number == epoch; in {
				calls = nil
			}
		case events.Collective:
			if in {
				calls = append(calls, e)
			}
		}
	}
	return calls
}

// callsDiffer judges collectives with the same number that differ between ranks.
func (e *Evidence) callsDiffer() (v Verdict, differ bool) {
	all := map[int]map[uint64]events.Event{}
	var first uint64 // the lowest number at which calls differ
	seen := map[uint64]events.Event{}
	for _, r := range e.Ranks {
		mine := map[uint64]events.Event{}
		for _, c := range r.calls(e.Epoch) {
			mine[c.Number] = c
			if other, ok := seen[c.Number]; !ok {
				seen[c.Number] = c
			} else if !sameCall(other, c) && (first == 0 || c.Number < first) {
				first = c.Number
			}
		}
		all[r.Rank] = mine
	}
	if first == 0 {
		return v, false
	}
	odd, usual, tie := e.oddRank(all, first)
	got := all[odd][first]
	switch {
	case tie:
		other := -1
		for _, r := range e.Ranks {
			if c, ok := all[r.Rank][first]; ok && r.Rank != odd && !sameCall(c, got) {
				other, usual = r.Rank, c
			}
		}
		v = Verdict{odd, OtherCall, fmt.Sprintf("%s and %s disagree in collective %d: %s, and %s", e.name(odd), e.name(other), first, describe(got), describe(usual))}
		if got.Verb == usual.Verb && got.Name == usual.Name && got.Elements != usual.Elements {
			v.Kind = OtherLength
		}
	case got.Verb == usual.Verb && got.Name == usual.Name && got.Elements != usual.Elements:
		v = e.say(odd, OtherLength, "called %s %d with another length: %s, the others %s", got.Verb, first, count(got), count(usual))
	case follows(all, first, usual, got):
		v = e.say(odd, Skipped, "skipped %s: it called %s instead", numbered(usual, first), describe(got))
	case known(all, got, first):
		v = e.say(odd, OutOfOrder, "called %s where the others called %s: it calls collectives out of order", describe(got), numbered(usual, first))
	default:
		v = e.say(odd, OtherCall, "called %s where the others called %s", describe(got), numbered(usual, first))
	}
	return v, true
}

// sameCall ignores the sizes of records, which may differ between ranks.
func sameCall(a, b events.Event) bool {
	if a.Verb == "all-gather" && b.Verb == a.Verb || a.Verb == "send-receive" && b.Verb == a.Verb {
		return a.Name == b.Name
	}
	return a.SameCall(b)
}

// oddRank returns the rank whose call with a number differs from that of most others, and their call. If two calls
// have as many ranks, the odd one is the one that breaks the order of earlier calls; if both do, or none, it is a tie.
func (e *Evidence) oddRank(all map[int]map[uint64]events.Event, number uint64) (odd int, usual events.Event, tie bool) {
	type group struct {
		call  events.Event
		ranks []int
	}
	var groups []group
	for _, r := range e.Ranks {
		c, ok := all[r.Rank][number]
		if !ok {
			continue
		}
		found := false
		for i := range groups {
			if sameCall(groups[i].call, c) {
				groups[i].ranks = append(groups[i].ranks, r.Rank)
				found = true
			}
		}
		if !found {
			groups = append(groups, group{c, []int{r.Rank}})
		}
	}
	most, least := 0, 0
	for i := range groups {
		if len(groups[i].ranks) > len(groups[most].ranks) {
			most = i
		}
		if len(groups[i].ranks) <= len(groups[least].ranks) {
			least = i
		}
	}
	if len(groups[most].ranks) > len(groups[least].ranks) {
		return groups[least].ranks[0], groups[most].call, false
	}
	// As many ranks each: the history of calls decides.
	var before events.Event
	for _, mine := range all {
		if c, ok := mine[number-1]; ok {
			before = c
		}
	}
	expected := func(c events.Event) bool { return follows(all, number, before, c) }
	for i := range groups {
		for k := range groups {
			if i != k && expected(groups[i].call) && !expected(groups[k].call) {
				return groups[k].ranks[0], groups[i].call, false
			}
		}
	}
	return groups[0].ranks[0], groups[len(groups)-1].call, true
}

// follows reports whether some rank has called next right after call, before the collective with a number.
func follows(all map[int]map[uint64]events.Event, number uint64, call, next events.Event) bool {
	for _, mine := range all {
		for n, c := range mine {
			if after, ok := mine[n+1]; ok && n+1 < number && sameCall(c, call) && sameCall(after, next) {
				return true
			}
		}
	}
	return false
}

// known reports whether some rank has made the call with another number.
func known(all map[int]map[uint64]events.Event, call events.Event, number uint64) bool {
	for _, mine := range all {
		for n, c := range mine {
			if n != number && sameCall(c, call) {
				return true
			}
		}
	}
	return false
}

// numbered returns "all-reduce 17 (gradient)".
func numbered(c events.Event, number uint64) string {
	text := fmt.Sprintf("%s %d", plain.Text(c.Verb), number)
	if c.Name != "" {
		text += " (" + plain.Text(c.Name) + ")"
	}
	return text
}

// describe returns "all-reduce (gradient) of 4 elements".
func describe(c events.Event) string {
	text := plain.Text(c.Verb)
	if c.Name != "" {
		text += " (" + plain.Text(c.Name) + ")"
	}
	if c.Elements > 0 {
		text += " of " + count(c)
	}
	if c.Peer >= 0 {
		text += fmt.Sprintf(" with root %d", c.Peer)
	}
	return text
}

// count returns "4 elements".
func count(c events.Event) string { return fmt.Sprintf("%d elements", c.Elements) }
