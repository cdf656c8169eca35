// SPDX-License-Identifier: Apache-2.0

// Package vwtext prints what vw 9.11.9 prints about a training: the progress table and the
// summary, byte for byte. Scripts parse both, and tests compare them with the output of real
// vw.
//
// [Stats] has the running sums that both show. Its fields correspond to those of vw's
// shared_data: a weighted sum is a sum of importance weights, and held-out examples have sums
// of their own. [Table] prints a row when the weight of the examples reaches a limit, and moves
// the limit. [Report] is the outcome of a run, and its summary.
package vwtext
