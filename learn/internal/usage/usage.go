// SPDX-License-Identifier: Apache-2.0

// Package usage has the faults of a configuration. Each names the field of learn.Config that it
// is about:
//
//	var f usage.Faults
//	if c.Passes < 0 {
//		f.Add("Passes", "%d passes: at least one is needed", c.Passes)
//	}
//	return f.Err()
//
// Run and Validate return all faults at once, so a user corrects them in one go.
package usage

import (
	"errors"
	"fmt"
)

// Error is a fault of a Config: fields that contradict each other, or that do not
// fit the model.
//
// Messages name fields as in learn.Config.Reg.L2, and a value of a field as in
// learn.Config.Loss.Function=logistic. A program with a command line can replace these
// by its options.
type Error struct {
	Field string // path of the field in Config, such as Reg.L2, perhaps with =VALUE; "": no single field
	Text  string // what is wrong and what to do
}

func (e *Error) Error() string {
	if e.Field == "" {
		return e.Text
	}
	return "learn.Config." + e.Field + ": " + e.Text
}

// New returns an *Error.
func New(field, format string, args ...any) error {
	return &Error{Field: field, Text: fmt.Sprintf(format, args...)}
}

// Faults collects the faults of a Config or of one of its groups.
type Faults []error

// Add adds an *Error.
func (f *Faults) Add(field, format string, args ...any) { *f = append(*f, New(field, format, args...)) }

// Negative adds a fault if a number is below 0 or no number.
func (f *Faults) Negative(field string, value float64) {
	switch {
	case value < 0:
		f.Add(field, "%g is negative", value)
	case !(value >= 0):
		f.Add(field, "%g is no number", value)
	}
}

// Err returns the faults as one error, or nil if there are none.
func (f Faults) Err() error { return errors.Join(f...) }
