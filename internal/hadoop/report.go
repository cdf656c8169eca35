// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"strconv"
	"strings"
)

// maxLine is the limit of a line for Hadoop in bytes. A write up to this length is atomic, and not
// mixed with the lines of other processes that write to the same pipe.
const maxLine = 4096

// AppendStatus appends the line that sets the task's status.
func (t Task) AppendStatus(dst []byte, text string) []byte {
	start := len(dst)
	dst = append(append(dst, t.Prefix...), "status:"...)
	dst = append(dst, oneLine(text)...)
	if limit := start + maxLine - 1; len(dst) > limit {
		dst = append([]byte(strings.ToValidUTF8(string(dst[:limit-len("…")]), "")), "…"...)
	}
	return append(dst, '\n')
}

// AppendCounter appends the line that adds to a counter. Hadoop splits the line at
// commas, so names must not contain any.
func (t Task) AppendCounter(dst []byte, group, counter string, amount int64) []byte {
	dst = append(append(dst, t.Prefix...), "counter:"...)
	dst = append(append(dst, noCommas(group)...), ',')
	dst = append(append(dst, noCommas(counter)...), ',')
	return append(strconv.AppendInt(dst, amount, 10), '\n')
}

// oneLine replaces line ends in text.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// noCommas replaces commas and line ends in a name.
func noCommas(name string) string { return strings.ReplaceAll(oneLine(name), ",", " ") }
