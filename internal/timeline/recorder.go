// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/timeline/offset"
)

// Row is a row of a rank.
type Row int

// The rows.
const (
	Steps Row = iota
	Collectives
	Sends
	Receives
)

var rowNames = [...]string{Steps: "steps", Collectives: "collectives", Sends: "sends", Receives: "receives"}

// Recorder writes the timeline of a rank.
type Recorder struct {
	mu    sync.Mutex
	w     *bufio.Writer // nil: there is no file
	meter *Meter        // gets the spans, too; nil: there is none
	rank  int
	clock Clock
	line  []byte
	err   error
}

// New returns a recorder that writes to w. If w is nil it returns nil. If w is a *Meter, that gets the spans.
func New(w io.Writer, rank int, clock Clock) *Recorder {
	if w == nil {
		return nil
	}
	r := &Recorder{rank: rank, clock: clock}
	if r.meter, _ = w.(*Meter); r.meter != nil && r.meter.Trace == nil {
		return r
	}
	r.w = bufio.NewWriterSize(w, 64<<10)
	r.line = append(r.line, "[\n"...)
	for row, name := range rowNames {
		r.line = fmt.Appendf(r.line, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":%q}},\n", rank, row, name)
	}
	r.flushLine()
	return r
}

// Now returns the time, or the zero time if nothing is recorded.
func (r *Recorder) Now() time.Time {
	if r == nil {
		return time.Time{}
	}
	return time.Now()
}

// Span records a span that ends now. bytes is 0 where none are moved.
func (r *Recorder) Span(row Row, name string, began time.Time, bytes int) {
	if r == nil {
		return
	}
	r.SpanTo(row, name, began, time.Now(), bytes)
}

// SpanTo records a span.
func (r *Recorder) SpanTo(row Row, name string, began, ended time.Time, bytes int) {
	if r == nil {
		return
	}
	if r.meter != nil {
		r.meter.span(row, name, began, ended, bytes)
	}
	if r.w == nil {
		return
	}
	from, to := micro(r.clock.Nanos(began)), micro(r.clock.Nanos(ended))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line = append(appendSpan(r.line, row, name, r.rank, from, to-from, bytes), ",\n"...)
	r.flushLine()
}

// appendSpan appends the event of a span, with times in microseconds.
func appendSpan(b []byte, row Row, name string, rank int, began, took int64, bytes int) []byte {
	b = append(b, `{"ph":"X","name":`...)
	b = appendText(b, name)
	b = append(b, `,"pid":`...)
	b = strconv.AppendInt(b, int64(rank), 10)
	b = append(b, `,"tid":`...)
	b = strconv.AppendInt(b, int64(row), 10)
	b = append(b, `,"ts":`...)
	b = strconv.AppendInt(b, began, 10)
	b = append(b, `,"dur":`...)
	b = strconv.AppendInt(b, max(0, took), 10)
	if bytes > 0 {
		b = append(b, `,"args":{"bytes":`...)
		b = strconv.AppendInt(b, int64(bytes), 10)
		b = append(b, '}')
	}
	return append(b, '}')
}

// Traces reports whether the recorder writes a trace, so that exchanges with the server's clock are of use.
func (r *Recorder) Traces() bool { return r != nil && r.w != nil }

// Exchanged records an exchange with a clock of another process, which is known by its number.
func (r *Recorder) Exchanged(s offset.Sample, reference uint64) {
	if !r.Traces() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line = append(appendExchange(r.line, exchange{s, reference, r.clock.machine}, r.rank), ",\n"...)
	r.flushLine()
}

// flushLine passes the line to the writer.
func (r *Recorder) flushLine() {
	if _, err := r.w.Write(r.line); err != nil && r.err == nil {
		r.err = err
	}
	r.line = r.line[:0]
}

// Close writes the end of the file. It does not close the writer.
func (r *Recorder) Close() error {
	if r == nil || r.w == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line = fmt.Appendf(r.line, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"rank %[1]d\"}}\n]\n", r.rank)
	r.flushLine()
	if err := r.w.Flush(); err != nil && r.err == nil {
		r.err = err
	}
	return r.err
}
