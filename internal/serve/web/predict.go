// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/serve/engine"
)

// flushAnswers is the number of bytes of answers after which they are sent before the body has ended.
const flushAnswers = 32 << 10

// predict answers the lines of a body.
func (h *handler) predict(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	found := h.find(w, r)
	if found == nil {
		return
	}
	kind, ok := kindOf(r.Header.Get("Content-Type"))
	if !ok {
		http.Error(w, "error: the body is neither vw's text (text/plain) nor JSON (application/json)", http.StatusUnsupportedMediaType)
		return
	}
	if r.ContentLength > h.cfg.MaxBody {
		http.Error(w, fmt.Sprintf("error: the body is longer than %d bytes", h.cfg.MaxBody), http.StatusRequestEntityTooLarge)
		return
	}
	_ = http.NewResponseController(w).EnableFullDuplex() // HTTP/2 is always so
	m := found.Engine.Acquire()
	defer m.Release() // the last user of a replaced model; its files have been read
	a := answerer{engine: found.Engine, model: m, kind: kind, w: w}
	err := a.body(r.Context(), http.MaxBytesReader(w, r.Body, h.cfg.MaxBody), h.cfg.MaxLine)
	h.metrics.observe(time.Since(began))
	if err == nil {
		a.end()
		return
	}
	status := http.StatusInternalServerError
	if _, large := errors.AsType[*http.MaxBytesError](err); large || errors.Is(err, bufio.ErrTooLong) {
		status = http.StatusRequestEntityTooLarge
	}
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("a line is longer than %d bytes", h.cfg.MaxLine)
	}
	a.fail(err, status)
}

// kindOf returns how a body is read. Clients such as curl send no useful type for text.
func kindOf(contentType string) (engine.Kind, bool) {
	t, _, err := mime.ParseMediaType(contentType)
	switch {
	case contentType == "":
		return engine.Strict, true
	case err != nil:
		return 0, false
	}
	switch t {
	case "application/json", "application/x-ndjson", "application/jsonl", "application/x-jsonlines":
		return engine.JSON, true
	case "text/plain", "application/x-www-form-urlencoded", "application/octet-stream":
		return engine.Strict, true
	}
	return 0, false
}

// answerer writes the answers of a request.
type answerer struct {
	engine *engine.Engine
	model  *engine.Model
	kind   engine.Kind
	w      http.ResponseWriter

	out           []byte
	nth           int  // lines of the body
	lines, faults int  // lines of the answer, and those with an error
	sent          bool // the status and some answers
}

// body answers all lines of a body. Answers are sent when there are many, and before a read that may wait.
func (a *answerer) body(ctx context.Context, body io.Reader, maxLine int) error {
	s, err := a.model.Session(a.kind)
	if err != nil {
		return err
	}
	defer a.model.Put(s)
	lines := bufio.NewScanner(&flusher{body: body, a: a})
	lines.Buffer(make([]byte, 0, 4<<10), maxLine+1)
	for lines.Scan() {
		if len(lines.Bytes()) > maxLine {
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

// line answers a line. A line of faults has an answer, too.
func (a *answerer) line(ctx context.Context, s *engine.Session, line []byte) error {
	if err := a.engine.Begin(ctx); err != nil {
		return err
	}
	defer a.engine.End()
	a.nth++
	before := len(a.out)
	out, err := s.Answer(ctx, a.out, line)
	a.out = out
	switch {
	case err != nil:
		a.faults++
		a.lines++
		a.out = a.appendError(a.out[:before], fmt.Errorf("line %d: %w", a.nth, err))
	case len(out) > before:
		a.lines++
		if a.kind == engine.JSON {
			a.out = appendJSON(out[:before], bytes.Clone(out[before:]), s.Tag())
		}
	}
	return nil
}

// appendError appends the answer of a line without a prediction.
func (a *answerer) appendError(dst []byte, err error) []byte {
	text := strings.ReplaceAll(plain.Text(err.Error()), "\n", "; ")
	if a.kind == engine.JSON {
		b, _ := json.Marshal(map[string]string{"error": text}) // a string has JSON
		return append(append(dst, b...), '\n')
	}
	return append(append(append(dst, "error: "...), text...), '\n')
}

// appendJSON appends the object of an answer, which is a line of -p.
func appendJSON(dst, answer, tag []byte) []byte {
	answer = bytes.TrimSuffix(answer, []byte("\n"))
	if len(tag) > 0 {
		answer = bytes.TrimSuffix(answer, append([]byte(" "), tag...))
	}
	dst = append(dst, `{"prediction":`...)
	if words := strings.Fields(string(answer)); len(words) > 0 && strings.Contains(words[0], ":") {
		for i, w := range words {
			class, score, _ := strings.Cut(w, ":")
			dst = append(dst, "{,"[min(i, 1)])
			dst = appendValue(strconv.AppendQuote(dst, class), ':', score)
		}
		dst = append(dst, '}')
	} else {
		dst = appendValue(dst, 0, string(answer))
	}
	if len(tag) > 0 {
		text, _ := json.Marshal(string(tag)) // a string has JSON
		dst = append(append(dst, `,"tag":`...), text...)
	}
	return append(dst, "}\n"...)
}

// appendValue appends a number, or another text as a string. JSON has no infinity and no NaN.
func appendValue(dst []byte, before byte, text string) []byte {
	if before != 0 {
		dst = append(dst, before)
	}
	if json.Valid([]byte(text)) {
		return append(dst, text...)
	}
	quoted, _ := json.Marshal(text) // a string has JSON
	return append(dst, quoted...)
}

// send sends the answers so far, with the status 200.
func (a *answerer) send() error {
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
func (a *answerer) fail(err error, status int) {
	a.out = a.appendError(a.out, err)
	a.header(status)
	_ = a.send() // the client may have gone
	_ = http.NewResponseController(a.w).Flush()
}

// flusher is the body of a request. Before a read that may wait for the client it sends the answers to
// the lines before, except at the beginning.
type flusher struct {
	body io.Reader
	a    *answerer
}

func (f *flusher) Read(b []byte) (int, error) {
	if len(f.a.out) > 0 && f.a.lines > 1 {
		if err := f.a.send(); err != nil {
			return 0, err
		}
		if err := http.NewResponseController(f.a.w).Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return 0, err
		}
	}
	return f.body.Read(b)
}
