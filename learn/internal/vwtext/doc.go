// SPDX-License-Identifier: Apache-2.0

// Package vwtext prints what vw prints about a training: the progress table and
// the summary, byte for byte. [Stats] has the running sums that both show.
package vwtext
