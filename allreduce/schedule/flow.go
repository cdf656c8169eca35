// SPDX-License-Identifier: Apache-2.0

package schedule

// Edges of a rank in a tree.
const (
	Up    = iota // to the parent
	Left         // to the child whose subtree holds lower ranks
	Right        // to the child whose subtree holds higher ranks
	Edges        // how many there are
)

// Self is the goroutine that called the collective, in [Flow.Next].
const Self = -1

// Flow is one rank's share of one collective. Its methods never wait, and are
// called under one lock of the driver.
type Flow interface {
	// Incoming is how many parts arrive on the edge in all.
	Incoming(edge int) int
	// Expect says where the next part of the edge goes. False: not now, ask again
	// after something was done or has arrived.
	Expect(edge int) (Receive, bool)
	// Arrived says that the part of the last Expect is there.
	Arrived(edge int)
	// Next hands out something that by, an edge's reader or Self, may do now. Each
	// action is handed out once; those handed out may be carried out at the
	// same time.
	Next(by int) (Action, bool)
	// Done says that the action has been carried out.
	Done(Action)
	// Finished says that the result is whole and nothing is left to do.
	Finished() bool
}

// Part is a range of bytes of the vector.
type Part struct {
	Index  int // among the parts of its edge
	Lo, Hi int
}

// Receive says where a part goes.
type Receive struct {
	Part Part
	// Slot is the buffer that holds the part until it is combined;
	// Straight: it goes into the result.
	Slot int
}

// Straight is the Slot of a part that is received into the result itself.
const Straight = -1

// Verb is what an action does.
type Verb uint8

const (
	// Send sends the part of the result on the edge; with Own, the part of
	// this rank's contribution.
	Send Verb = iota
	// Combine adds the part in the edge's Slot to the part of the result; with Own,
	// to the part of this rank's contribution, and the sum goes into the result.
	// Lower: the received operand comes first, it holds the lower ranks.
	Combine
)

// Action is one thing to do.
type Action struct {
	Verb  Verb
	Edge  int
	Part  Part
	Slot  int
	Own   bool
	Lower bool
}

// Options shape a flow. All ranks use the same.
type Options struct {
	// PartSize is how many bytes travel at once, a multiple of 8.
	// 0: 256 KiB, the best on loopback; less is better where a hop is slow.
	PartSize int
	// Slots is how many received parts of an edge may wait to be combined. 0: 2.
	Slots int
	// Phased sends nothing down before everything has come up, as vw does:
	// its workers read nothing from their parent before they have sent all.
	Phased bool
}

const (
	defaultPartSize = 256 << 10
	defaultSlots    = 2
)

func (o Options) withDefaults() Options {
	if o.PartSize == 0 {
		o.PartSize = defaultPartSize
	}
	if o.Slots == 0 {
		o.Slots = defaultSlots
	}
	return o
}

// span is a range of bytes that travels in parts: at least one, so that
// an empty vector still is a message.
type span struct{ lo, hi, size int }

func (s span) parts() int { return max(1, (s.hi-s.lo+s.size-1)/s.size) }

func (s span) part(k int) Part {
	return Part{Index: k, Lo: s.lo + k*s.size, Hi: min(s.lo+(k+1)*s.size, s.hi)}
}

// end is where the first k parts end.
func (s span) end(k int) int { return min(s.lo+k*s.size, s.hi) }
