// SPDX-License-Identifier: Apache-2.0

// Package tally books the examples that a rank has predicted: vw's running sums, the range
// of the labels, the metrics, the validation set, and the losses that end training early.
//
// A stage calls [Tally.Observe] before an example is learned from and [Tally.Account]
// after it. At the end of a step it calls [Tally.Share] and [Tally.Validate] in its
// exchange, where the ranks need each other, and [Tally.EndPass] and [Tally.Report] in its
// commit, which is local.
package tally
