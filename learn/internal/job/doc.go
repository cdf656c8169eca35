// SPDX-License-Identifier: Apache-2.0

// Package job is the part of one rank in its job: its group, the members that are left,
// and the records that they exchange.
//
// Each step ends with an all-gather of one small [Record] per rank. It has the sums, the
// counts and the label range that vw keeps local to a rank, and what a replacement of the
// rank needs. All ranks merge the records in the same order, so that they take the same
// decisions and write the same model bytes. In a job with vw workers there is no such
// call; there the ranks keep to vw's own sequence of calls.
//
// A [Provenance] identifies the data and the models that a rank's part of a state was made
// from. A state of other data is refused.
package job
