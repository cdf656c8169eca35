// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"log/slog"
	"strings"
)

// handler is a handler of log records that writes them as messages.
type handler struct {
	w      *Writer
	level  slog.Level
	fields string // of With
	prefix string // of the open groups
}

// NewHandler returns a handler that adds log records of a level or above to w.
func NewHandler(w *Writer, level slog.Level) slog.Handler { return &handler{w: w, level: level} }

func (h *handler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(h.fields)
	r.Attrs(func(a slog.Attr) bool {
		appendField(&b, h.prefix, a)
		return true
	})
	e := &Message{Level: r.Level.String(), Text: r.Message, Fields: b.String()}
	if !r.Time.IsZero() {
		e.Time = Seconds(r.Time)
	}
	h.w.Add(e)
	return nil
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	b.WriteString(h.fields)
	for _, a := range attrs {
		appendField(&b, h.prefix, a)
	}
	with := *h
	with.fields = b.String()
	return &with
}

func (h *handler) WithGroup(name string) slog.Handler {
	with := *h
	with.prefix += name + "."
	return &with
}

// appendField appends KEY=VALUE.
func appendField(b *strings.Builder, prefix string, a slog.Attr) {
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString(prefix + a.Key + "=" + a.Value.Resolve().String())
}
