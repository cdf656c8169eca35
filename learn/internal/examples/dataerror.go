// SPDX-License-Identifier: Apache-2.0

package examples

// DataError is a fault in what was read: a model that another program wrote,
// say, or no examples at all.
type DataError struct {
	Name string // the file
	Text string
}

func (e *DataError) Error() string { return e.Name + ": " + e.Text }
