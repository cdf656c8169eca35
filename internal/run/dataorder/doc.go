// SPDX-License-Identifier: Apache-2.0

// Package dataorder puts the predictions of several ranks into the order of the data.
//
//	order, err := dataorder.Read(ctx, fsys, hdfsio.Lines, files, format)
//	err = order.Merge(out, pieces)
//
// Each rank writes the predictions of its share of the examples to a file of its own. [Read] finds out which rank has had
// which example, by the rule that has divided the data, and [Order.Merge] takes a line of a rank's file for each of its
// examples, pass by pass. The result is the file that one process would have written. Files that do not fit the data, as
// when it has changed during the run, are [ErrUneven].
package dataorder
