// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/gvw-project/gvw/internal/link"
)

// Lane is a way beside an edge's TCP connection, on which the edge is lifted: a stream of
// package verbs. Nothing it does waits.
type Lane interface {
	Offer() []byte
	Accept(theirs []byte) error
	Read(b []byte) (int, error)
	Write(head, data []byte) (int, error)
	Arm(read, write bool) bool
	FD() int
	Silence()
	Flushed() bool
	Break() error
	Close() error
}

// What two ranks say to each other over TCP, in a frameLift, to lift their edge. Each
// direction goes over the lane from its liftSwitch on; the connection then carries nothing,
// and tells by its end that the other rank is gone.
const (
	liftOffer  = 1 // and how to reach the sender's lane
	liftReady  = 2 // the sender has connected it: the other may write to it
	liftSwitch = 3 // nothing more comes over TCP
	liftRefuse = 4 // the edge stays with TCP

	liftMax = 128
	// liftGrace is how long after the end of the connection a lane may still bring what was
	// written before.
	liftGrace = 10 * time.Millisecond
	// liftProbe is how many reads in vain go by between two looks at the connection.
	liftProbe = 64
)

// lift is how far an edge has come on its way from TCP to a lane. Of who holds the
// driver's edges.
type lift struct {
	Lane     Lane   // nil: none
	due      []byte // what is to be said
	theirs   []byte // the other's offer
	offered  bool
	accepted bool
	ready    bool // the other's lane is connected
	switched bool // liftSwitch is due, or said
	Out      bool // what is written goes over the lane
	In       bool // what is read comes over it
	stays    bool // with TCP, for good
	alarm    bool // there may be news of the connection
	empty    int  // reads in vain
	ended    time.Time
	end      error // of the connection
	probe    [1]byte
}

// say makes something due.
func (l *lift) say(what byte) { l.due = append(l.due, what) }

// step does what can be done to come further. open makes a lane, nil: not yet; must: there has
// to be one.
func (l *lift) step(open func() (Lane, error), must bool) (warn, err error) {
	if open == nil || l.stays {
		return nil, nil
	}
	refuse := func(err error) (error, error) {
		if must {
			return nil, err
		}
		l.stays = true
		l.say(liftRefuse)
		return err, nil
	}
	if !l.offered {
		if l.Lane, err = open(); err != nil {
			l.Lane = nil
			return refuse(err)
		}
		l.offered = true
		l.say(liftOffer)
	}
	if l.theirs != nil && !l.accepted {
		if err := l.Lane.Accept(l.theirs); err != nil {
			return refuse(err)
		}
		l.accepted = true
		l.say(liftReady)
	}
	if l.accepted && l.ready && !l.switched {
		l.switched = true
		l.say(liftSwitch)
	}
	return nil, nil
}

// composeLift appends what is due of a lift.
func (e *Edge) composeLift() bool {
	l := &e.Lift
	if len(l.due) == 0 {
		return false
	}
	what := l.due[0]
	l.due = l.due[:copy(l.due, l.due[1:])]
	body := []byte{what}
	if what == liftOffer {
		body = append(body, l.Lane.Offer()...)
	}
	e.outbox.head = e.Tags.AppendFrame(e.outbox.head, link.FrameLift, body)
	e.outbox.lift = what
	return true
}

// hearLift takes what the other rank says.
func (e *Edge) hearLift(body []byte) *Failure {
	l := &e.Lift
	if len(body) == 0 {
		return e.garbled(errors.New("an empty frame of a lift"))
	}
	out := func(what string) *Failure {
		return e.garbled(fmt.Errorf("a lift to another transport out of order: %s", what))
	}
	switch body[0] {
	case liftOffer:
		if l.theirs != nil {
			return out("a second offer")
		}
		l.theirs = append([]byte{}, body[1:]...)
	case liftReady:
		if !l.offered || l.ready {
			return out("ready")
		}
		l.ready = true
	case liftSwitch:
		switch {
		case !l.accepted || l.In:
			return out("a switch")
		case len(e.inbox.ahead) > 0:
			return out("bytes after the switch")
		}
		l.In = true
	case liftRefuse:
		if l.switched {
			return out("a refusal after all was ready")
		}
		l.stays = true
	default:
		return out(fmt.Sprintf("message %d", body[0]))
	}
	return nil
}
