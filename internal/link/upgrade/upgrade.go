// SPDX-License-Identifier: Apache-2.0

// Package upgrade is the protocol by which two ranks replace the connection of a link by a faster
// carrier: offer, accept, switch, or refuse.
//
// A [Machine] is one end of the protocol, without I/O. Its owner makes and opens carriers,
// sends the messages of [Machine.Next] in order, and passes the peer's messages to
// [Machine.Receive]. The messages travel on the link itself, so they arrive in order.
//
// Each direction switches separately. Switch is the last message that a rank writes to the connection.
// Everything after it goes through the carrier. A rank sends Switch only when the
// peer can read from the carrier.
//
//	shared-memory ring: one end offers     verbs stream: both ends offer
//
//	Offers            Opens                Mutual            Mutual
//	   | --- Offer ---> |                     | <-- Offer --> |
//	   | <-- Switch --- |                     | <-- Ready --> |
//	   | --- Switch --> |                     | <-- Switch -> |
//
// Either end may stay with the connection: it sends Refuse, and both directions stay.
// The end that offers a ring simply sends no Offer.
package upgrade

import "fmt"

// Message is what one end sends to the other. Its numbers are part of the protocol.
type Message uint8

const (
	Offer  Message = 1 // how to reach the sender's carrier
	Ready  Message = 2 // the sender has connected to the peer's carrier
	Switch Message = 3 // the sender writes nothing more to the connection
	Refuse Message = 4 // the link stays with the connection
)

func (m Message) String() string {
	switch m {
	case Offer:
		return "offer"
	case Ready:
		return "ready"
	case Switch:
		return "switch"
	case Refuse:
		return "refusal"
	}
	return fmt.Sprintf("message %d", uint8(m))
}

// Mode is the part of an end in the protocol.
type Mode uint8

const (
	Mutual Mode = iota // both ends make a carrier and connect to the peer's
	Offers             // this end makes the carrier, and the peer opens it
	Opens              // the peer makes the carrier, and this end opens it
)

// progress is how far a carrier has come between its maker and the other end.
type progress uint8

const (
	none      progress = iota
	offered            // the maker has made it, and the other end has its offer or will have
	connected          // the other end has connected to it
)

// Machine is one end of an upgrade. Its zero value is the start in the mode Mutual.
type Machine struct {
	In  bool // incoming bytes come through the carrier
	Out bool // outgoing bytes go through the carrier

	mode   Mode
	own    progress // of this end's carrier
	theirs progress // of the peer's carrier
	stays  bool     // the link stays with the connection
	ready  bool     // Switch is due or was sent
	sent   bool     // Switch was sent
	due    [4]Message
	n      int // of messages in due
}

// New returns an end in a mode.
func New(mode Mode) Machine {
	m := Machine{mode: mode}
	switch mode {
	case Offers:
		m.theirs = connected // there is none to connect to
	case Opens:
		m.own = connected
	}
	return m
}

// WantsOffer reports whether this end should make its carrier. The owner then calls Made or Stay.
func (m *Machine) WantsOffer() bool { return m.own == none && !m.stays }

// WantsAccept reports whether this end should connect to the peer's carrier. The owner then calls
// Accepted or Stay.
func (m *Machine) WantsAccept() bool { return m.theirs == offered && !m.stays }

// Made notes that this end has made its carrier. Offer is due.
func (m *Machine) Made() {
	m.own = offered
	m.queue(Offer)
}

// Accepted notes that this end has connected to the peer's carrier.
func (m *Machine) Accepted() {
	m.theirs = connected
	if m.mode == Mutual {
		m.queue(Ready)
	}
	m.advance()
}

// Stay notes that this end keeps the connection. Refuse is due if the peer waits for an
// answer or may still offer.
func (m *Machine) Stay() {
	m.stays = true
	if m.mode != Offers {
		m.queue(Refuse)
	}
}

// Stage is how far an upgrade has come.
type Stage uint8

const (
	Idle    Stage = iota // no end has offered anything
	Pending              // messages are on their way, or due
	Done                 // both directions go through carriers
	Stays                // the link keeps its connection for good
)

// Stage returns how far the upgrade has come.
func (m *Machine) Stage() Stage {
	switch {
	case m.In && m.Out:
		return Done
	case m.Due(), m.ready, m.mode != Opens && m.own != none && !m.stays, m.mode != Offers && m.theirs != none && !m.stays:
		return Pending
	case m.stays:
		return Stays
	}
	return Idle
}

// Receive takes a message of the peer. It returns an error if the message is out of order.
func (m *Machine) Receive(msg Message) error {
	legal := false
	switch msg {
	case Offer:
		legal = m.theirs == none
	case Ready:
		legal = m.mode == Mutual && m.own == offered
	case Switch:
		switch m.mode {
		case Mutual:
			legal = m.own == connected && m.theirs == connected
		case Offers:
			legal = m.own == offered
		case Opens:
			legal = m.sent
		}
		legal = legal && !m.In && !m.stays
	case Refuse:
		legal = m.mode != Opens && !m.ready && (m.mode == Mutual || m.own == offered)
	}
	if !legal {
		return fmt.Errorf("an upgrade of the connection is out of order: %v", msg)
	}
	switch msg {
	case Offer:
		m.theirs = offered
	case Ready:
		m.own = connected
	case Switch:
		m.In = true
		m.own = connected // the peer has opened the ring
	case Refuse:
		m.stays = true
	}
	m.advance()
	return nil
}

// Next returns the next message to send, and whether there is one.
func (m *Machine) Next() (msg Message, ok bool) {
	if m.n == 0 {
		return 0, false
	}
	msg = m.due[0]
	m.n--
	copy(m.due[:], m.due[1:])
	m.sent = m.sent || msg == Switch
	return msg, true
}

// Due reports whether Next has a message.
func (m *Machine) Due() bool { return m.n > 0 }

// Written notes that a message of Next has left this rank. From Switch on, bytes go through the
// carrier.
func (m *Machine) Written(msg Message) { m.Out = m.Out || msg == Switch }

// advance makes Switch due once both carriers are connected.
func (m *Machine) advance() {
	if m.own == connected && m.theirs == connected && !m.ready && !m.stays {
		m.ready = true
		m.queue(Switch)
	}
}

func (m *Machine) queue(msg Message) {
	m.due[m.n] = msg
	m.n++
}
