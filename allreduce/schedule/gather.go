// SPDX-License-Identifier: Apache-2.0

package schedule

// Gather brings every rank's own range of the vector to all ranks: the ranges of
// a subtree, which are neighbours, go up, then the whole comes down. Call
// Start first. It is made for small records.
type Gather struct {
	place   Place
	whole   span
	from    [Edges]span // what arrives on the edge
	to      span        // what goes up
	own     int         // the end of this rank's own range
	got     [Edges]int
	sent    [Edges]int
	sending [Edges]bool
}

var _ Flow = (*Gather)(nil)

// Start begins a gather. The range of rank r is offsets[r] … offsets[r+1]; it has
// Size+1 offsets, rising, and this rank's own range holds its bytes already.
func (f *Gather) Start(place Place, offsets []int, opt Options) {
	opt = opt.withDefaults()
	cut := func(lo, hi int) span { return span{offsets[lo], offsets[hi], opt.PartSize} }
	*f = Gather{
		place: place,
		whole: cut(0, place.Size),
		to:    cut(place.Lo, place.Hi),
		own:   offsets[place.Rank+1],
	}
	f.from[Up] = f.whole
	f.from[Left] = cut(place.Lo, place.Rank)
	f.from[Right] = cut(place.Rank+1, place.Hi)
}

// Incoming is a child's subtree, and the whole from the parent.
func (f *Gather) Incoming(edge int) int {
	if !f.place.has(edge) {
		return 0
	}
	return f.from[edge].parts()
}

// Expect: parts go straight into the vector. Those that come down overwrite,
// with the same bytes, what this rank has sent up, so that must be over.
func (f *Gather) Expect(edge int) (Receive, bool) {
	k := f.got[edge]
	if k == f.Incoming(edge) {
		return Receive{}, false
	}
	return Receive{f.from[edge].part(k), Straight}, edge != Up || f.sent[Up] == f.to.parts()
}

// Arrived counts the part.
func (f *Gather) Arrived(edge int) { f.got[edge]++ }

// Next: the reader of the parent's edge passes the whole down, everybody else
// sends up what is there.
func (f *Gather) Next(by int) (Action, bool) {
	root := !f.place.has(Up)
	if by == Up || root {
		for _, edge := range [...]int{Left, Right} {
			k := f.sent[edge]
			if f.place.has(edge) && !f.sending[edge] && k < f.final() {
				f.sending[edge] = true
				return Action{Verb: Send, Edge: edge, Part: f.whole.part(k)}, true
			}
		}
		return Action{}, false
	}
	k := f.sent[Up]
	if f.sending[Up] || k == f.to.parts() || f.to.part(k).Hi > f.ready() {
		return Action{}, false
	}
	f.sending[Up] = true
	return Action{Verb: Send, Edge: Up, Part: f.to.part(k)}, true
}

// ready is how far the bytes of the subtree are there without a gap.
func (f *Gather) ready() int {
	if f.place.has(Left) && f.got[Left] < f.from[Left].parts() {
		return f.from[Left].end(f.got[Left])
	}
	if f.place.has(Right) {
		return f.from[Right].end(f.got[Right])
	}
	return f.own
}

// complete says whether all of this rank's subtree has arrived.
func (f *Gather) complete() bool {
	return f.got[Left] == f.Incoming(Left) && f.got[Right] == f.Incoming(Right)
}

// final is how many parts of the whole may go down.
func (f *Gather) final() int {
	switch {
	case f.place.has(Up):
		return f.got[Up]
	case f.complete():
		return f.whole.parts()
	}
	return 0
}

// Done counts what was sent.
func (f *Gather) Done(a Action) {
	f.sent[a.Edge]++
	f.sending[a.Edge] = false
}

// Finished: all is here, and passed on.
func (f *Gather) Finished() bool {
	n := f.whole.parts()
	if f.final() < n || !f.complete() {
		return false
	}
	for _, edge := range [...]int{Left, Right} {
		if f.place.has(edge) && f.sent[edge] < n {
			return false
		}
	}
	return !f.place.has(Up) || f.sent[Up] == f.to.parts()
}
