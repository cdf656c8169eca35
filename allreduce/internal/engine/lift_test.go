// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"testing"
)

// standIn is a lane that can be offered and accepted.
type standIn struct {
	Lane
	refuse error
}

func (s standIn) Offer() []byte       { return []byte("offer") }
func (s standIn) Accept([]byte) error { return s.refuse }

// TestLiftNonsense: what has no place in the talk about a lift is the peer's fault.
func TestLiftNonsense(t *testing.T) {
	for _, c := range []struct {
		name string
		have lift
		say  []byte
	}{
		{"nothing", lift{}, nil},
		{"an unknown message", lift{}, []byte{9}},
		{"a second offer", lift{theirs: []byte{1}}, []byte{liftOffer, 2}},
		{"ready for no offer", lift{}, []byte{liftReady}},
		{"ready again", lift{offered: true, ready: true}, []byte{liftReady}},
		{"a switch before all is ready", lift{offered: true}, []byte{liftSwitch}},
		{"a second switch", lift{offered: true, accepted: true, In: true}, []byte{liftSwitch}},
		{"a refusal after the switch", lift{switched: true}, []byte{liftRefuse}},
	} {
		e := NewEdge(&Engine{Rank: 1}, 0)
		e.Lift = c.have
		if f := e.hearLift(c.say); f == nil || f.Code != FaultGaveUp {
			t.Errorf("%s: got %+v, want that the peer sends what makes no sense", c.name, f)
		}
	}
	e := NewEdge(&Engine{Rank: 1}, 0)
	e.Lift = lift{offered: true, accepted: true}
	e.inbox.ahead = []byte("more")
	if f := e.hearLift([]byte{liftSwitch}); f == nil || f.Code != FaultGaveUp {
		t.Errorf("bytes after the switch: got %+v", f)
	}
}

// TestLiftRefused: an end that has no lane stays with TCP and says so, or that is an error.
func TestLiftRefused(t *testing.T) {
	none := errors.New("none")
	for _, c := range []struct {
		name string
		open func() (Lane, error)
		due  []byte
	}{
		{"no lane", func() (Lane, error) { return nil, none }, []byte{liftRefuse}},
		{"no way to the other", func() (Lane, error) { return standIn{refuse: none}, nil }, []byte{liftOffer, liftRefuse}},
	} {
		l := lift{theirs: []byte("theirs")}
		if warn, err := l.step(c.open, false); warn != none || err != nil || !l.stays || string(l.due) != string(c.due) {
			t.Errorf("%s: got %v, %v, stays %v, due %v", c.name, warn, err, l.stays, l.due)
		}
		l = lift{theirs: []byte("theirs")}
		if _, err := l.step(c.open, true); err != none {
			t.Errorf("%s, and there must be one: got %v", c.name, err)
		}
	}
	l := lift{}
	if l.step(nil, true); len(l.due) > 0 {
		t.Errorf("before the ranks have agreed: due %v", l.due)
	}
	open := func() (Lane, error) { return standIn{}, nil }
	for _, want := range []string{string([]byte{liftOffer}), string([]byte{liftOffer, liftReady}), string([]byte{liftOffer, liftReady, liftSwitch})} {
		if _, err := l.step(open, true); err != nil || string(l.due) != want {
			t.Errorf("got %v, %v, want %v", l.due, err, []byte(want))
		}
		if l.theirs != nil {
			l.ready = true
		}
		l.theirs = []byte("theirs")
	}
}
