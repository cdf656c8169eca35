// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bufio"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"time"

	"github.com/gvw-project/gvw/internal/serve/engine"
)

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
	a := h.idle.Get().(*answerer)
	a.begin(h, found.Engine, kind, w)
	defer func() {
		a.reset()
		h.idle.Put(a)
	}()
	_ = a.control.EnableFullDuplex() // HTTP/2 is always so
	a.model = found.Engine.Acquire()
	defer a.model.Release() // the last user of a replaced model; its files have been read
	a.body = http.MaxBytesReader(w, r.Body, h.cfg.MaxBody)
	err := a.answer(r.Context())
	h.requests.Observe(time.Since(began).Seconds())
	if err == nil {
		a.end()
		return
	}
	a.fail(h.cfg.describe(err))
}

// describe returns the status of an answer that cannot be completed, and the error as the client reads it.
func (c *Config) describe(err error) (status int, shown error) {
	_, large := errors.AsType[*http.MaxBytesError](err)
	switch {
	case large:
		return http.StatusRequestEntityTooLarge, err
	case errors.Is(err, bufio.ErrTooLong):
		return http.StatusRequestEntityTooLarge, fmt.Errorf("a line is longer than %d bytes", c.Limits.MaxLine)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout, fmt.Errorf("the next line has not arrived within %v", c.Limits.LineTimeout)
	}
	return http.StatusInternalServerError, err
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
