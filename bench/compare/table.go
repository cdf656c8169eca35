// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// writeTable writes the rows as a table of Markdown, and the notes of rows below it.
func writeTable(w io.Writer, rows []row, outcomes []outcome) error {
	var b, notes strings.Builder
	b.WriteString("| work | anchor | gvw | anchor | ratio | quartiles | CPU ratio | goal | limit | met |\n|---|---|--:|--:|--:|--:|--:|--:|--:|---|\n")
	for i, r := range rows {
		o := outcomes[i]
		fmt.Fprintf(&b, "| %s | ", r.name)
		if o.missing != "" {
			fmt.Fprintf(&b, "%s | not measured: %s | | | | | %s | %s | |\n", r.anchor, oneLine(o.missing), r.bound(r.goal), r.bound(r.limit))
			continue
		}
		q, peer := r.ratio(o), r.anchor
		if o.peer != "" {
			peer = o.peer
		}
		theirs := ""
		if len(o.anchor) > 0 {
			theirs = r.value(quartilesOf(o.anchor).median)
		}
		met := r.verdict(o)
		if o.worse != "" {
			met += ", " + o.worse
		}
		fmt.Fprintf(&b, "%s | %s | %s | **%s** | %s to %s | %s | %s | %s | %s |\n", peer, r.value(quartilesOf(o.ours).median), theirs,
			number(q.median), number(q.low), number(q.high), number(quartilesOf(ratios(o.oursCPU, o.anchorCPU)).median),
			r.bound(r.goal), r.bound(r.limit), met)
		if o.note != "" {
			fmt.Fprintf(&notes, "- %s: %s\n", r.name, o.note)
		}
	}
	if notes.Len() > 0 {
		b.WriteString("\n" + notes.String())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// value formats a value of the row with its unit.
func (r row) value(x float64) string { return number(x) + " " + r.unit }

// bound formats a goal or a limit.
func (r row) bound(b bound) string {
	switch {
	case b.value == 0:
		return ""
	case b.absolute:
		return r.value(b.value)
	}
	return number(b.value)
}

// number formats a number with three digits; NaN is empty.
func number(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	if x >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// oneLine returns a text without line breaks and column marks, and not longer than a cell should be.
func oneLine(text string) string {
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "/")
	const most = 160
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
