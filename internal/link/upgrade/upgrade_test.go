// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"testing"

	"pgregory.net/rapid"
)

// end is one rank of a simulated link: its machine, and the messages on their way to it.
type end struct {
	Machine
	inbox []Message
}

// deliver moves one message from a to b, as a link does.
func (a *end) deliver(b *end) bool {
	msg, ok := a.Next()
	if !ok {
		return false
	}
	b.inbox = append(b.inbox, msg)
	a.Written(msg)
	return true
}

// pair returns both ends of a link.
func pair(ring bool) (a, b *end) {
	if ring {
		return &end{Machine: New(Offers)}, &end{Machine: New(Opens)}
	}
	return &end{Machine: New(Mutual)}, &end{Machine: New(Mutual)}
}

// TestEveryOrder runs both ends in random orders, with random failures to make or open a carrier. No
// correct end gets a message out of order; a rank writes to a carrier only after its peer has
// connected to it; and at the end both directions are upgraded or none is.
func TestEveryOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := pair(rapid.Bool().Draw(t, "ring"))
		fails := func(what string) bool { return rapid.IntRange(0, 7).Draw(t, what) == 0 }
		step := func(x, y *end) bool {
			var can []func()
			if x.WantsOffer() {
				can = append(can, func() {
					if fails("making fails") {
						x.Stay()
					} else {
						x.Made()
					}
				})
			}
			if x.WantsAccept() {
				can = append(can, func() {
					if fails("opening fails") {
						x.Stay()
					} else {
						x.Accepted()
					}
				})
			}
			if x.Due() {
				can = append(can, func() { x.deliver(y) })
			}
			if len(x.inbox) > 0 {
				can = append(can, func() {
					msg := x.inbox[0]
					x.inbox = x.inbox[1:]
					if x.In {
						t.Fatalf("%v arrived over the connection after the switch", msg)
					}
					if err := x.Receive(msg); err != nil {
						t.Fatalf("%v: %v", msg, err)
					}
				})
			}
			if len(can) == 0 {
				return false
			}
			can[rapid.IntRange(0, len(can)-1).Draw(t, "step")]()
			if x.Out && y.theirs != connected && y.own != connected {
				t.Fatalf("one end writes to a carrier that the other has not connected: %+v, %+v", x, y)
			}
			return true
		}
		for moved := true; moved; {
			first, second := a, b
			if rapid.Bool().Draw(t, "b first") {
				first, second = b, a
			}
			moved = step(first, second)
			moved = step(second, first) || moved
		}
		if a.In != a.Out || a.In != b.In || a.In != b.Out {
			t.Fatalf("half an upgrade: %+v, %+v", a, b)
		}
		if ended := a.Stage(); ended == Pending || b.Stage() == Pending {
			t.Fatalf("an upgrade that does not end: %+v, %+v", a, b)
		}
	})
}

// TestArbitraryMessages feeds a machine with arbitrary messages: it never panics, never accepts
// two switches, and never switches without a connected carrier.
func TestArbitraryMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := New(Mode(rapid.IntRange(0, 2).Draw(t, "mode")))
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				if m.WantsOffer() {
					m.Made()
				}
			case 1:
				if m.WantsAccept() {
					m.Accepted()
				}
			case 2:
				if msg, ok := m.Next(); ok {
					m.Written(msg)
				}
			default:
				before := m
				msg := Message(rapid.IntRange(0, 6).Draw(t, "message"))
				switch err := m.Receive(msg); {
				case err != nil && m != before:
					t.Fatalf("%v was refused, and changed %+v to %+v", msg, before, m)
				case err == nil && msg == Switch && before.In:
					t.Fatal("a second switch")
				}
			}
			if m.Out && (m.own != connected || m.theirs != connected) {
				t.Fatalf("switched without carriers: %+v", m)
			}
		}
	})
}

// TestOutOfOrder lists the messages that no correct peer sends in a state.
func TestOutOfOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		mode Mode
		have []Message // heard before
		do   func(m *Machine)
		msg  Message
	}{
		{"an unknown message", Mutual, nil, nil, 9},
		{"a second offer", Mutual, []Message{Offer}, nil, Offer},
		{"ready for no offer", Mutual, nil, nil, Ready},
		{"ready again", Mutual, nil, func(m *Machine) { m.Made(); _ = m.Receive(Ready) }, Ready},
		{"a switch before all is ready", Mutual, nil, (*Machine).Made, Switch},
		{"a second switch", Mutual, []Message{Offer}, func(m *Machine) { m.Made(); m.Accepted(); _, _ = m.Receive(Ready), m.Receive(Switch) }, Switch},
		{"a refusal after the switch", Mutual, []Message{Offer}, func(m *Machine) { m.Made(); m.Accepted(); _ = m.Receive(Ready) }, Refuse},
		{"a ring from the wrong side", Offers, nil, nil, Offer},
		{"a second ring", Opens, []Message{Offer}, nil, Offer},
		{"a switch without an offer", Offers, nil, nil, Switch},
		{"a refusal after the switch to a ring", Opens, []Message{Offer}, func(m *Machine) { m.Accepted(); m.Next() }, Refuse},
		{"a switch before this end's", Opens, []Message{Offer}, (*Machine).Accepted, Switch},
		{"a second switch to a ring", Opens, []Message{Offer}, func(m *Machine) { m.Accepted(); m.Next(); _ = m.Receive(Switch) }, Switch},
		{"ready in a ring", Offers, nil, (*Machine).Made, Ready},
	} {
		m := New(c.mode)
		for _, msg := range c.have {
			if err := m.Receive(msg); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		if c.do != nil {
			c.do(&m)
		}
		if err := m.Receive(c.msg); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}
