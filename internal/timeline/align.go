// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/gvw-project/gvw/internal/timeline/offset"
)

// Clocks puts the times of several ranks on the clock of their server. Read takes the exchanges out of the files of all
// ranks, Merge and Spans correct the times. The zero value is ready for use.
type Clocks struct {
	ranks  map[int]*rankClock
	fitted bool
}

// noExchange is the reason why the clock of a rank is not known: the server is vw's own, or the rank has not joined.
const noExchange = "no exchange with the server"

// rankClock is the clock of one rank.
type rankClock struct {
	exchanges []exchange
	curve     *offset.Curve // nil: the times stay as they are
	result    ClockError
	known     bool // result was read from a merged file, whose times are corrected
	spans     bool // a span was seen
	first     int64
}

// event is a line of a file.
type event struct {
	Phase string          `json:"ph"`
	Name  string          `json:"name"`
	Rank  int             `json:"pid"`
	Args  json.RawMessage `json:"args"`
}

// Read reads the exchanges in a file.
func (c *Clocks) Read(in io.Reader) error {
	return lines(in, func(line []byte) error {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		return c.add(&e)
	})
}

// add takes what an event has about clocks.
func (c *Clocks) add(e *event) (err error) {
	switch {
	case e.Phase == "X":
		c.of(e.Rank)
	case e.Phase == "M" && e.Name == exchangeEvent:
		var x exchange
		if x, err = readExchange(e.Args); err == nil {
			r := c.of(e.Rank)
			r.exchanges = append(r.exchanges, x)
		}
	case e.Phase == "M" && e.Name == clockEvent:
		r := c.of(e.Rank)
		r.known, r.result = true, ClockError{}
		err = json.Unmarshal(e.Args, &r.result)
	}
	return err
}

// of returns the clock of a rank.
func (c *Clocks) of(rank int) *rankClock {
	if c.ranks == nil {
		c.ranks = map[int]*rankClock{}
	}
	if c.ranks[rank] == nil {
		c.ranks[rank] = &rankClock{result: ClockError{Why: noExchange}}
	}
	return c.ranks[rank]
}

// fit estimates the offsets, once. Ranks of one machine share their exchanges, so that the same offset corrects all of
// them. If these contradict each other, as after the calendar of the machine was set, each rank has its own.
func (c *Clocks) fit() {
	if c.fitted {
		return
	}
	c.fitted = true
	reference := c.reference()
	machines := map[string][]offset.Sample{}
	own := map[int][]offset.Sample{}
	for _, rank := range c.sorted() {
		for _, x := range c.ranks[rank].exchanges {
			if x.reference == reference {
				own[rank] = append(own[rank], x.Sample)
				machines[x.machine] = append(machines[x.machine], x.Sample)
			}
		}
	}
	shared := map[string]*offset.Curve{}
	for machine, samples := range machines {
		if curve, err := offset.Fit(samples); machine != "" && err == nil && curve.Rate == offset.MaxRate {
			shared[machine] = curve
		}
	}
	for rank, r := range c.ranks {
		if r.known || len(own[rank]) == 0 {
			continue
		}
		machine := r.exchanges[0].machine
		if r.curve = shared[machine]; r.curve != nil {
			r.result = ClockError{Aligned: true, Rate: r.curve.Rate, Exchanges: len(machines[machine])}
			continue
		}
		curve, err := offset.Fit(own[rank])
		if err != nil {
			r.result = ClockError{Why: err.Error(), Exchanges: len(own[rank])}
			continue
		}
		r.curve, r.result = curve, ClockError{Aligned: true, Rate: curve.Rate, Exchanges: len(own[rank])}
	}
}

// reference returns the clock with the most exchanges: a server that was started again has another one.
func (c *Clocks) reference() (most uint64) {
	count := map[uint64]int{}
	for _, rank := range c.sorted() {
		for _, x := range c.ranks[rank].exchanges {
			if count[x.reference]++; count[x.reference] > count[most] {
				most = x.reference
			}
		}
	}
	return most
}

// sorted returns the ranks in order.
func (c *Clocks) sorted() []int { return slices.Sorted(maps.Keys(c.ranks)) }

// correct puts a span on the server's clock.
func (c *Clocks) correct(s *Span) {
	c.fit()
	r := c.of(s.Rank)
	if r.known {
		return
	}
	ended := s.Began + s.Took
	began, ahead, bound := r.at(s.Began)
	ended, _, later := r.at(ended)
	if !r.spans || s.Began < r.first {
		r.spans, r.first, r.result.Offset = true, s.Began, ahead
	}
	r.result.Bound = max(r.result.Bound, bound, later)
	s.Began, s.Took = began, max(0, ended-began)
}

// at converts a time of the rank's clock. All values are in microseconds.
func (r *rankClock) at(us int64) (corrected int64, ahead, bound float64) {
	if r.curve == nil || us > math.MaxInt64/1000 || us < math.MinInt64/1000 {
		return us, 0, 0
	}
	a, b := r.curve.At(us * 1000)
	return micro(us*1000 + a), float64(a) / 1e3, float64(b+1000) / 1e3 // a microsecond by rounding
}

// Errors returns how well the clocks of the ranks with spans are known. It is complete after Spans or Merge.
func (c *Clocks) Errors() map[int]ClockError {
	c.fit()
	all := map[int]ClockError{}
	for rank, r := range c.ranks {
		if r.known || r.spans {
			all[rank] = r.result
		}
	}
	return all
}

// Spans reads the spans of a file, by the server's clock where that is known. The Clocks have read all files before.
func (c *Clocks) Spans(in io.Reader) ([]Span, error) {
	spans, err := Read(in)
	for i := range spans {
		c.correct(&spans[i])
	}
	return spans, err
}

// Merge writes the events of several files as one file, by the server's clock where that is known. The Clocks have read
// the same files before. The last events state the error of each rank.
func (c *Clocks) Merge(w io.Writer, in ...io.Reader) error {
	out := newWriter(w)
	for _, r := range in {
		if err := lines(r, func(line []byte) error { return c.copyEvent(out, line) }); err != nil {
			return err
		}
	}
	for _, rank := range c.sorted() {
		if r := c.ranks[rank]; !r.known && r.spans {
			out.add(appendClock(nil, rank, r.result))
		}
	}
	return out.end()
}

// copyEvent writes an event of a rank to the file of all.
func (c *Clocks) copyEvent(out *writer, line []byte) error {
	var e struct {
		Phase string `json:"ph"`
		Name  string `json:"name"`
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	switch {
	case e.Phase == "X":
		var s Span
		if err := json.Unmarshal(line, &s); err != nil {
			return err
		}
		c.correct(&s)
		out.add(appendSpan(nil, s.Row, s.Name, s.Rank, s.Began, s.Took, s.Args.Bytes))
	case e.Phase == "M" && e.Name == exchangeEvent:
	default:
		out.add(line)
	}
	return nil
}
