// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/job"
)

// UsageError is a fault in what the caller asked for: options that contradict
// each other, or that do not fit the model.
type UsageError struct {
	Option string // vw's spelling, with dashes; may be empty
	Text   string // what is wrong and what to do
}

func (e *UsageError) Error() string {
	if e.Option == "" {
		return e.Text
	}
	return e.Option + ": " + e.Text
}

func usage(option, format string, args ...any) error {
	return &UsageError{Option: option, Text: fmt.Sprintf(format, args...)}
}

type (
	// DataError is a fault in what was read: a model that another program wrote, or no
	// examples at all.
	DataError = examples.DataError
	// ProvenanceError says that a state comes from other data than this rank has read, or from
	// another model to start from.
	ProvenanceError = job.ProvenanceError
)
