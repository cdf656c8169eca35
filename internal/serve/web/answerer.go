// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gvw-project/gvw/internal/serve/engine"
)

// flushAnswers is the number of bytes of answers after which they are sent before the body has ended.
const flushAnswers = 32 << 10

// answerer writes the answers of a request. Its buffers serve further requests.
type answerer struct {
	limits  engine.Limits
	e       *engine.Engine
	model   *engine.Model
	session *engine.Session // of the model, while lines are answered
	kind    engine.Kind
	body    io.Reader
	w       http.ResponseWriter
	control *http.ResponseController

	in, out []byte
	nth     int  // lines of the body so far
	awaited int  // 1 + nth when the deadline of the next line was set; 0: no deadline
	lines   int  // lines of the answer
	faults  int  // those with an error
	sent    bool // the status and some answers
}

// begin prepares an answerer for a request.
func (a *answerer) begin(h *handler, e *engine.Engine, kind engine.Kind, w http.ResponseWriter) {
	a.e, a.kind, a.w, a.control = e, kind, w, http.NewResponseController(w)
	a.limits = h.cfg.Limits
	if a.in == nil {
		a.in = make([]byte, 0, 4<<10)
	}
}

// reset drops everything but the buffers, unless they are large.
func (a *answerer) reset() {
	in, out := a.in, a.out[:0]
	if cap(out) > 2*flushAnswers {
		out = nil
	}
	*a = answerer{in: in, out: out}
}

// answer answers all lines of the body. Answers are sent when there are many, and before a read that may wait.
func (a *answerer) answer(ctx context.Context) error {
	s, err := a.model.Session(a.kind)
	if err != nil {
		return err
	}
	a.session = s
	defer func() {
		a.session = nil
		a.model.Put(s)
	}()
	lines := bufio.NewScanner(a)
	lines.Buffer(a.in, a.limits.MaxLine+1)
	for lines.Scan() {
		if len(lines.Bytes()) > a.limits.MaxLine {
			return bufio.ErrTooLong
		}
		if err := a.line(ctx, s, lines.Bytes()); err != nil {
			return err
		}
		if len(a.out) >= flushAnswers {
			if err := a.send(); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// Read reads from the body. Before a read that may wait for the client it sends the answers to
// the lines before, except at the beginning.
func (a *answerer) Read(b []byte) (int, error) {
	if len(a.out) > 0 && a.lines > 1 {
		if err := a.send(); err != nil {
			return 0, err
		}
		if err := a.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return 0, err
		}
	}
	if a.awaited <= a.nth {
		a.awaited = a.nth + 1
		if err := a.control.SetReadDeadline(time.Now().Add(a.limits.LineTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return 0, err
		}
	}
	return a.body.Read(b)
}

// line answers a line. A line of faults has an answer, too.
func (a *answerer) line(ctx context.Context, s *engine.Session, line []byte) error {
	if err := a.e.Begin(ctx); err != nil {
		return err
	}
	defer a.e.End()
	a.nth++
	before := len(a.out)
	out, err := s.Answer(ctx, a.out, line)
	a.out = out
	switch {
	case err != nil:
		a.faults++
		a.lines++
		a.out = appendError(a.out[:before], a.kind, fmt.Errorf("line %d: %w", a.nth, err))
	case len(out) > before:
		a.lines++
		if a.kind == engine.JSON {
			a.out = appendJSON(out[:before], bytes.Clone(out[before:]), s.Tag())
		}
	}
	return nil
}

// send sends the answers so far, with the status 200.
func (a *answerer) send() error {
	if err := a.control.SetWriteDeadline(time.Now().Add(a.limits.WriteTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if a.session != nil {
		a.session.Count()
	}
	a.header(http.StatusOK)
	_, err := a.w.Write(a.out)
	a.out = a.out[:0]
	return err
}

// header sends the status, once.
func (a *answerer) header(status int) {
	if a.sent {
		return
	}
	a.sent = true
	t := "text/plain; charset=utf-8"
	if a.kind == engine.JSON {
		t = "application/x-ndjson"
	}
	a.w.Header().Set("Content-Type", t)
	a.w.WriteHeader(status)
}

// end sends the rest. A request of one line that has failed has the status of a bad request.
func (a *answerer) end() {
	if !a.sent && a.lines == 1 && a.faults == 1 {
		a.header(http.StatusBadRequest)
	}
	_ = a.send() // the client may have gone
}

// fail ends an answer that cannot be completed.
func (a *answerer) fail(status int, err error) {
	a.out = appendError(a.out, a.kind, err)
	a.header(status)
	_ = a.send() // the client may have gone
	_ = a.control.Flush()
}
