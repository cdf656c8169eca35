// SPDX-License-Identifier: Apache-2.0

package protocol

import "github.com/gvw-project/gvw/internal/wire"

// ClockFrame (CLOCK) asks for the time of the server's clock.
type ClockFrame struct {
	Sent uint64 // time of the rank's clock in nanoseconds, which the answer repeats
}

func (f *ClockFrame) code(c *wire.Coder) { c.U64("sent", &f.Sent) }

// ClockAnswerFrame (CLOCK_ANSWER) answers CLOCK.
type ClockAnswerFrame struct {
	Sent  uint64 // of the CLOCK
	Time  uint64 // of the server's clock, in nanoseconds since 1970
	Clock uint64 // number of the server's clock, which a server that is started again replaces
}

func (f *ClockAnswerFrame) code(c *wire.Coder) {
	c.U64("sent", &f.Sent)
	c.U64("time", &f.Time)
	c.U64("clock", &f.Clock)
}
