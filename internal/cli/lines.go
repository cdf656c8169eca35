// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/gvw-project/gvw/internal/plain"
)

// ErrorLines returns the messages of an error, one for each fault. Joined errors begin with the
// root cause; the lines end with it, since people read the last line.
func ErrorLines(err error) []string {
	var lines []string
	for _, e := range Joined(err) {
		text := plain.Text(strings.Join(strings.Fields(e.Error()), " "))
		lines = append([]string{text}, lines...)
	}
	return lines
}

// Joined returns the errors of errors.Join, also of nested ones, or the error itself. It
// distinguishes errors.Join from fmt.Errorf with several %w by the text: the text of the
// latter has more than the joined lines, so it stays one error.
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
