// SPDX-License-Identifier: Apache-2.0

package learn

// dataError is a fault in what was read: a model that another program wrote,
// say, or no examples at all.
type dataError struct {
	Name string // the file
	Text string
}

func (e *dataError) Error() string { return e.Name + ": " + e.Text }
