// SPDX-License-Identifier: Apache-2.0

// Package logformat has the forms in which gvw and spanning_tree write their logs (--log_format).
//
//	log := slog.New(logformat.New(os.Stderr, logformat.JSON, nil))
//	log.Warn("rank is slow", "rank", 3, "waits", 90*time.Second)
//	// {"time":"2026-11-23T20:15:04.61Z","level":"WARN","msg":"rank is slow","rank":3,"waits":"1m30s"}
//
// docs/formats.md describes the lines.
package logformat

import (
	"io"
	"log/slog"
)

// Values of --log_format.
const (
	Text = "text" // key=value, as of slog.TextHandler
	JSON = "json" // an object of JSON on each line
)

// All are the values of --log_format.
var All = []string{Text, JSON}

// New returns a handler that writes lines to w, in the form JSON or else as text. In JSON, durations are texts such as
// 1m30s, as in the text: numbers would leave their unit open.
func New(w io.Writer, form string, opts *slog.HandlerOptions) slog.Handler {
	if form != JSON {
		return slog.NewTextHandler(w, opts)
	}
	o := slog.HandlerOptions{}
	if opts != nil {
		o = *opts
	}
	replace := o.ReplaceAttr
	o.ReplaceAttr = func(groups []string, a slog.Attr) slog.Attr {
		if replace != nil {
			a = replace(groups, a)
		}
		if a.Value.Kind() == slog.KindDuration {
			a.Value = slog.StringValue(a.Value.Duration().String())
		}
		return a
	}
	return slog.NewJSONHandler(w, &o)
}
