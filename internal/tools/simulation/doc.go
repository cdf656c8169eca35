// SPDX-License-Identifier: Apache-2.0

// Package simulation has the command gvw simulate: [Simulate] computes, by package simulate and those below it,
// the time of an all-reduce, the time that losses of ranks cost a job, or the times of passes on hosts of
// unequal speed. It prints a table, and writes it as CSV and drawn as SVG.
package simulation
