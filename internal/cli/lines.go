// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/gvw-project/gvw/internal/plain"
)

// ErrorLines are the messages of an error, one per fault. Errors are Joined with
// the one that matters first and what went wrong after it next; people read the
// last line, so the order is turned.
func ErrorLines(err error) []string {
	var lines []string
	for _, e := range Joined(err) {
		text := plain.Text(strings.Join(strings.Fields(e.Error()), " "))
		lines = append([]string{text}, lines...)
	}
	return lines
}

// Joined takes errors.Join apart; wrapping around it is left alone.
func Joined(err error) []error {
	j, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	texts := make([]string, len(j.Unwrap()))
	var all []error
	for i, e := range j.Unwrap() {
		texts[i] = e.Error()
		all = append(all, Joined(e)...)
	}
	if err.Error() != strings.Join(texts, "\n") {
		return []error{err}
	}
	return all
}
