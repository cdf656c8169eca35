// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/wire"
)

// Limits of EVENTS.
const (
	// MaxEvents limits the events in a frame, beside extraEvents.
	MaxEvents = 400
	// UnaskedEvents is the size in bytes of the events that a rank sends without being asked, such
	// that a server without EVENTS skips the frame.
	UnaskedEvents = smallFrame - eventsHeader

	extraEvents  = 3 // room for the newest Epoch, Collective and Failure, which [events.Ring.Last] returns beyond its limit
	eventsLimit  = 64 << 10
	eventsHeader = 12 // bytes before the events
	eventBytes   = 55 // of an event without its texts
	maxVerb      = MaxStep
	maxEventName = 200
)

// CanSendEvents is the bit of JoinFrame.Capabilities of a rank that answers COLLECT.
const CanSendEvents = 1

// EventsFrame (EVENTS) has the last events of a rank. It answers COLLECT, or precedes a FAIL or a
// LEAVE.
type EventsFrame struct {
	Number uint64 // of the COLLECT; 0: it was not asked for
	Events []events.Event
}

// AskedEvents returns the size in bytes of the events in an answer to COLLECT, for a server that accepts payloads of
// maxFrame bytes.
func AskedEvents(maxFrame int) int { return min(eventsLimit, maxFrame) - eventsHeader }

// NewEvents returns a frame with the newest events that fit into a size in bytes.
func NewEvents(number uint64, all []events.Event, size int) *EventsFrame {
	first := len(all)
	for ; first > 0; first-- {
		e := &all[first-1]
		e.Verb, e.Name = Clip(e.Verb, maxVerb), Clip(e.Name, maxEventName)
		if size -= eventBytes + len(e.Verb) + len(e.Name); size < 0 {
			break
		}
	}
	return &EventsFrame{Number: number, Events: all[max(first, len(all)-MaxEvents-extraEvents):]}
}

func (f *EventsFrame) code(c *wire.Coder) {
	c.U64("number", &f.Number)
	wire.List(c, "events", MaxEvents+extraEvents, eventBytes, &f.Events, func(c *wire.Coder, e *events.Event) {
		c.Nanos("ago", &e.Ago)
		c.Nanos("took", &e.Took)
		c.Flag("open", &e.Open)
		c.U8("kind", (*uint8)(&e.Kind))
		c.U8("class", (*uint8)(&e.Class))
		c.U64("number", &e.Number)
		c.Rank("peer", &e.Peer)
		c.Text("verb", maxVerb, &e.Verb)
		c.Text("name", maxEventName, &e.Name)
		c.U64("elements", &e.Elements)
		c.U64("bytes", &e.Bytes)
	})
}

// CollectFrame (COLLECT) asks a rank for its last events.
type CollectFrame struct {
	Number  uint64        // from 1
	Limit   uint32        // number of events
	Verdict time.Duration // time within which VERDICT follows the final EPOCH_END; 0: it does not follow
}

func (f *CollectFrame) code(c *wire.Coder) {
	c.U64("number", &f.Number)
	c.U32("limit", &f.Limit)
	c.Millis("verdict", &f.Verdict)
}

// VerdictFrame (VERDICT) is the cause of a failure, found in the events of all ranks.
type VerdictFrame struct {
	Number uint64 // of the COLLECT
	Rank   int    // that has caused the failure; -1: no single rank
	Cause  string // in one line
}

func (f *VerdictFrame) code(c *wire.Coder) {
	c.U64("number", &f.Number)
	c.Rank("rank", &f.Rank)
	c.Text("cause", MaxText, &f.Cause)
}
