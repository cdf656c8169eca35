// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/job"
)

// UsageError is a fault of a Config: fields that contradict each other, or that do not
// fit the model.
//
// Messages name fields as in learn.Config.Reg.L2, and a value of a field as in
// learn.Config.Loss.Function=logistic. A program with a command line can replace these
// by its options.
type UsageError struct {
	Field string // path of the field in Config, such as Reg.L2, perhaps with =VALUE; "": no single field
	Text  string // what is wrong and what to do
}

func (e *UsageError) Error() string {
	if e.Field == "" {
		return e.Text
	}
	return "learn.Config." + e.Field + ": " + e.Text
}

// usage returns a UsageError.
func usage(field, format string, args ...any) error {
	return &UsageError{Field: field, Text: fmt.Sprintf(format, args...)}
}

type (
	// DataError is a fault in an input: a model that another program has written, for example,
	// or data without examples.
	DataError = examples.DataError
	// ProvenanceError means that a state was made from other data than this rank has read, or
	// from another initial model.
	ProvenanceError = job.ProvenanceError
)
