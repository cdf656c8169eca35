// SPDX-License-Identifier: Apache-2.0

package schedule

// Broadcast sends the vector of one rank to all others, along the tree. Call
// Start first. The root is finished when it has sent all, which is before the
// others have it.
type Broadcast struct {
	place   Place
	whole   span
	parts   int
	in      int // the edge that leads to the root; Self at the root
	got     int
	sent    [Edges]int
	sending [Edges]bool
}

var _ Flow = (*Broadcast)(nil)

// Start begins a broadcast of n bytes from root.
func (f *Broadcast) Start(place Place, root, n int, opt Options) {
	opt = opt.withDefaults()
	*f = Broadcast{place: place, whole: span{0, n, opt.PartSize}, in: place.toward(root)}
	f.parts = f.whole.parts()
	if f.in == Self {
		f.got = f.parts
	}
}

// Incoming is the whole vector, from the root's side.
func (f *Broadcast) Incoming(edge int) int {
	if edge != f.in {
		return 0
	}
	return f.parts
}

// Expect: parts go straight into the vector.
func (f *Broadcast) Expect(edge int) (Receive, bool) {
	return Receive{f.whole.part(f.got), Straight}, edge == f.in && f.got < f.parts
}

// Arrived counts the part.
func (f *Broadcast) Arrived(int) { f.got++ }

// Next: who has the part passes it on, away from the root.
func (f *Broadcast) Next(by int) (Action, bool) {
	if by != f.in {
		return Action{}, false
	}
	for edge := range Edges {
		k := f.sent[edge]
		if f.out(edge) && !f.sending[edge] && k < f.got {
			f.sending[edge] = true
			return Action{Verb: Send, Edge: edge, Part: f.whole.part(k)}, true
		}
	}
	return Action{}, false
}

func (f *Broadcast) out(edge int) bool { return f.place.has(edge) && edge != f.in }

// Done counts what was sent.
func (f *Broadcast) Done(a Action) {
	f.sent[a.Edge]++
	f.sending[a.Edge] = false
}

// Finished: all is here, and passed on.
func (f *Broadcast) Finished() bool {
	if f.got < f.parts {
		return false
	}
	for edge := range Edges {
		if f.out(edge) && f.sent[edge] < f.parts {
			return false
		}
	}
	return true
}
