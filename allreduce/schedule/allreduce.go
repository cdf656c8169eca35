// SPDX-License-Identifier: Apache-2.0

package schedule

// AllReduce is the pipelined tree: parts go up and are added on the way, and come
// down from the root while later ones are still going up. Call Start first.
// The contribution may be the result's own memory.
type AllReduce struct {
	place Place
	opt   Options
	whole span
	parts int

	// Counters of parts, per edge.
	got     [Edges]int  // received
	added   [Edges]int  // combined; of the children
	sent    [Edges]int  // sent
	adding  [Edges]bool // a Combine is handed out
	sending [Edges]bool // a Send is handed out
}

var _ Flow = (*AllReduce)(nil)

// Start begins a collective over n bytes. It may be called again when the last
// one is over.
func (f *AllReduce) Start(place Place, n int, opt Options) {
	opt = opt.withDefaults()
	*f = AllReduce{place: place, opt: opt, whole: span{0, n, opt.PartSize}}
	f.parts = f.whole.parts()
}

// Incoming is the whole vector on every edge.
func (f *AllReduce) Incoming(edge int) int {
	if !f.place.has(edge) {
		return 0
	}
	return f.parts
}

// Expect: a child's part waits in a slot for its turn; the parent's is the
// result. It overwrites what this rank has sent up, so that must be over: it
// is, but the one who sent it may not have said so yet.
func (f *AllReduce) Expect(edge int) (Receive, bool) {
	k := f.got[edge]
	switch {
	case k == f.Incoming(edge):
		return Receive{}, false
	case edge == Up:
		return Receive{f.whole.part(k), Straight}, k < f.sent[Up]
	}
	return Receive{f.whole.part(k), k % f.opt.Slots}, k-f.added[edge] < f.opt.Slots
}

// Arrived counts the part.
func (f *AllReduce) Arrived(edge int) { f.got[edge]++ }

// Next: the reader of the parent's edge passes results down, everybody else
// combines and sends up. At the root sums are results at once.
func (f *AllReduce) Next(by int) (Action, bool) {
	root := !f.place.has(Up)
	if by == Up || root {
		if a, ok := f.nextDown(); ok || by == Up {
			return a, ok
		}
	}
	for _, edge := range [...]int{Left, Right} {
		if a, ok := f.nextCombine(edge); ok {
			return a, ok
		}
	}
	k := f.sent[Up]
	if root || f.sending[Up] || k >= f.reduced() {
		return Action{}, false
	}
	f.sending[Up] = true
	return Action{Verb: Send, Edge: Up, Part: f.whole.part(k), Own: f.leaf()}, true
}

func (f *AllReduce) nextDown() (Action, bool) {
	for _, edge := range [...]int{Left, Right} {
		k := f.sent[edge]
		if f.place.has(edge) && !f.sending[edge] && k < f.final() {
			f.sending[edge] = true
			return Action{Verb: Send, Edge: edge, Part: f.whole.part(k)}, true
		}
	}
	return Action{}, false
}

func (f *AllReduce) nextCombine(edge int) (Action, bool) {
	k := f.added[edge]
	if f.adding[edge] || k >= f.got[edge] || !f.place.has(edge) {
		return Action{}, false
	}
	own := true // nothing has been added to this part yet
	if edge == Right && f.place.has(Left) {
		if own = false; k >= f.added[Left] {
			return Action{}, false
		}
	}
	f.adding[edge] = true
	return Action{
		Verb: Combine, Edge: edge, Part: f.whole.part(k),
		Slot: k % f.opt.Slots, Own: own, Lower: edge == Left,
	}, true
}

// Done counts what was carried out.
func (f *AllReduce) Done(a Action) {
	if a.Verb == Combine {
		f.added[a.Edge]++
		f.adding[a.Edge] = false
		return
	}
	f.sent[a.Edge]++
	f.sending[a.Edge] = false
}

// reduced is how many parts hold the sum of this rank's subtree.
func (f *AllReduce) reduced() int {
	switch {
	case f.place.has(Right):
		return f.added[Right]
	case f.place.has(Left):
		return f.added[Left]
	}
	return f.parts
}

// final is how many parts hold the result and may go down.
func (f *AllReduce) final() int {
	if f.place.has(Up) {
		return f.got[Up]
	}
	n := f.reduced()
	if f.opt.Phased && n < f.parts {
		return 0
	}
	return n
}

func (f *AllReduce) leaf() bool { return !f.place.has(Left) && !f.place.has(Right) }

// Finished: all is final here, and passed on.
func (f *AllReduce) Finished() bool {
	if f.final() < f.parts {
		return false
	}
	for edge := range Edges {
		if f.place.has(edge) && f.sent[edge] < f.parts {
			return false
		}
	}
	return true
}
