// SPDX-License-Identifier: Apache-2.0

package learn

import "fmt"

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

// OriginError says that a state comes from other data than this rank has read, or from
// another model to start from.
type OriginError struct {
	Rank      int
	Then, Now string
}

func (e *OriginError) Error() string {
	return fmt.Sprintf("rank %d: the state to go on from was made from %s, and this rank has %s: give the same data, shared out in the same way (-d, --shard), and the same -i, or leave --resume out",
		e.Rank, e.Then, e.Now)
}

// DataError is a fault in what was read: a model that another program wrote,
// say, or no examples at all.
type DataError struct {
	Name string // the file
	Text string
}

func (e *DataError) Error() string { return e.Name + ": " + e.Text }
