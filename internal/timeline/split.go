// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"slices"
)

// Part is what a rank does in a part of its time.
type Part int

// The parts. Where ranks share memory a rank neither sends nor receives, so all time in collectives counts as waiting.
const (
	Computes     Part = iota // makes its contribution to a step
	Updates                  // makes results and the next state, outside collectives
	Communicates             // sends or receives in a collective
	Waits                    // is in a collective, and neither sends nor receives
	Parts                    // their number
)

// PartNames are the names of the parts.
var PartNames = [Parts]string{"computes", "updates", "communicates", "waits"}

// Work is the name of the span in which a rank makes its contribution to a step.
const Work = "work"

// Interval is a time from Lo to Hi.
type Interval struct{ Lo, Hi int64 }

// Intervals are sorted and do not overlap, except before union.
type Intervals []Interval

// Split divides the time of one rank between from and to. The parts do not overlap. Time in which the rank is in no step,
// such as that of joining, is in no part.
func Split(spans []Span, from, to int64) [Parts]Intervals {
	var l lists
	for _, s := range spans {
		if lo, hi := max(s.Began, from), min(s.Began+s.Took, to); lo < hi {
			l.add(s.Row, s.Name, Interval{lo, hi})
		}
	}
	return l.parts()
}

// lists are the spans of a rank, by what they mean.
type lists struct{ work, steps, calls, moves Intervals }

// add adds a span.
func (l *lists) add(row Row, name string, s Interval) {
	list := &l.steps
	switch {
	case row == Collectives:
		list = &l.calls
	case row > Collectives:
		list = &l.moves
	case name == Work:
		list = &l.work
	}
	*list = append(*list, s)
}

// reset empties the lists.
func (l *lists) reset() {
	l.work, l.steps, l.calls, l.moves = l.work[:0], l.steps[:0], l.calls[:0], l.moves[:0]
}

// parts divides the time of the spans.
func (l *lists) parts() (parts [Parts]Intervals) {
	work, steps, calls := l.work.union(), l.steps.union(), l.calls.union()
	moves := l.moves.union().within(calls)
	parts[Computes] = work.minus(calls)
	parts[Updates] = steps.minus(calls)
	parts[Communicates] = moves
	parts[Waits] = calls.minus(moves)
	return parts
}

// Sum returns the length of all intervals.
func (in Intervals) Sum() (sum int64) {
	for _, s := range in {
		sum += s.Hi - s.Lo
	}
	return sum
}

// union sorts and joins intervals. It reuses their memory.
func (in Intervals) union() Intervals {
	slices.SortFunc(in, func(a, b Interval) int { return cmp.Compare(a.Lo, b.Lo) })
	out := in[:0]
	for _, s := range in {
		if n := len(out); n > 0 && s.Lo <= out[n-1].Hi {
			out[n-1].Hi = max(out[n-1].Hi, s.Hi)
			continue
		}
		out = append(out, s)
	}
	return out
}

// minus returns the parts of in that are not in other. Both are unions.
func (in Intervals) minus(other Intervals) (out Intervals) {
	first := 0
	for _, s := range in {
		for first < len(other) && other[first].Hi <= s.Lo {
			first++
		}
		for _, o := range other[first:] {
			if o.Lo >= s.Hi {
				break
			}
			if o.Lo > s.Lo {
				out = append(out, Interval{s.Lo, o.Lo})
			}
			s.Lo = o.Hi
		}
		if s.Lo < s.Hi {
			out = append(out, s)
		}
	}
	return out
}

// within returns the parts of in that are in other.
func (in Intervals) within(other Intervals) Intervals { return in.minus(in.minus(other)) }
