// SPDX-License-Identifier: Apache-2.0

package examples

// DataError is a fault in an input: a model that another program has written, for example, or
// data without examples.
type DataError struct {
	Name string // file name
	Text string
}

func (e *DataError) Error() string { return e.Name + ": " + e.Text }
