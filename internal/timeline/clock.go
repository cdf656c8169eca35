// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/gvw-project/gvw/internal/timeline/offset"
)

// Clock is the clock of a recorder. It is set by the calendar at its start, and then runs evenly: a machine whose
// calendar is set meanwhile does not tear its spans apart.
type Clock struct {
	// Rate is by how much the clock is too fast, as in 1e-4; 0 except in tests.
	Rate float64
	// Skew is by how much the clock is ahead of the machine's; 0 except in tests.
	Skew time.Duration

	machine string
	start   time.Time
}

// NewClock returns a clock that starts now. machine identifies the machine: recorders of one machine have the same clock.
// "" is a machine without others.
func NewClock(machine string) Clock { return Clock{machine: machine, start: time.Now()} }

// Nanos returns what the clock shows at a time, in nanoseconds since 1970.
func (c Clock) Nanos(t time.Time) int64 {
	passed := t.Sub(c.start) // by the monotonic clock
	return c.start.UnixNano() + int64(passed) + int64(c.Skew) + int64(c.Rate*float64(passed))
}

// micro converts nanoseconds to microseconds. It rounds down.
func micro(nanos int64) int64 {
	us := nanos / 1000
	if nanos%1000 < 0 {
		us--
	}
	return us
}

// exchange is an exchange of a rank with the clock of its server.
type exchange struct {
	offset.Sample
	reference uint64 // number of the server's clock
	machine   string // of the rank
}

// exchangeEvent is the name of the event of an exchange, and clockEvent that of the result for a rank.
const (
	exchangeEvent = "clock_exchange"
	clockEvent    = "clock"
)

// appendExchange appends the event of an exchange.
func appendExchange(b []byte, e exchange, rank int) []byte {
	b = fmt.Appendf(b, `{"ph":"M","name":"%s","pid":%d,"args":{"sent_ns":%d,"remote_ns":%d,"received_ns":%d,"reference":"%016x","machine":`,
		exchangeEvent, rank, e.Sent, e.Remote, e.Received, e.reference)
	return append(appendText(b, e.machine), "}}"...)
}

// readExchange decodes the arguments of the event.
func readExchange(args json.RawMessage) (e exchange, err error) {
	var a struct {
		Sent      int64  `json:"sent_ns"`
		Remote    int64  `json:"remote_ns"`
		Received  int64  `json:"received_ns"`
		Reference string `json:"reference"`
		Machine   string `json:"machine"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return e, err
	}
	e = exchange{offset.Sample{Sent: a.Sent, Remote: a.Remote, Received: a.Received}, 0, a.Machine}
	e.reference, err = strconv.ParseUint(a.Reference, 16, 64)
	return e, err
}

// ClockError is how well the clock of a rank is known.
type ClockError struct {
	// Aligned means that the times of the rank's spans are by the server's clock.
	Aligned bool `json:"aligned"`
	// Offset is by how much the server's clock was ahead of the rank's at its first span.
	Offset float64 `json:"offset_us"`
	// Bound limits the error of the times, in microseconds: the largest one at the begin or end of a span.
	Bound float64 `json:"bound_us"`
	// Rate is the limit on the difference of the rates of the two clocks for which Bound holds.
	Rate float64 `json:"rate"`
	// Exchanges is the number of exchanges with the server from which the offset is known, those of all ranks of the
	// machine.
	Exchanges int `json:"exchanges"`
	// Why is the reason if the times are by the rank's own clock; "": they are by the server's.
	Why string `json:"why,omitempty"`
}

// String describes the clock to users.
func (c ClockError) String() string {
	if !c.Aligned {
		return "its own clock: " + c.Why
	}
	return fmt.Sprintf("server's clock ± %.3f ms", c.Bound/1e3)
}

// appendClock appends the events of the result: for programs, and the label that Perfetto shows beside the rank.
func appendClock(b []byte, rank int, c ClockError) []byte {
	args, _ := json.Marshal(c) // it has only numbers and text
	b = fmt.Appendf(b, `{"ph":"M","name":"%s","pid":%d,"args":%s}`, clockEvent, rank, args)
	b = fmt.Appendf(b, ",\n"+`{"ph":"M","name":"process_labels","pid":%d,"args":{"labels":`, rank)
	return append(appendText(b, c.String()), "}}"...)
}

// appendText appends a text in JSON.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			text, _ := json.Marshal(s) // text is always valid
			return append(b, text...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
