// SPDX-License-Identifier: Apache-2.0

// Package pipe reduces vectors that arrive on a stream. `gvw allreduce` does this
// for programs in any language.
//
//	err := pipe.Run(ctx, group, pipe.Config{Op: "sum", Type: "f64"}, os.Stdin, os.Stdout)
//
// Each rank reads one vector at a time. The n-th vectors of all ranks are reduced to
// one result, the same on all ranks, which each writes before it reads the next vector.
//
// # Formats
//
// As text, a vector is a line of numbers separated by blanks, and so is the result.
// Numbers are written with the fewest digits that identify them. An empty line is an
// empty vector. As a frame, a vector is its length in bytes (8 bytes), then
// its elements; all little-endian. Type "text" is for gathering: any line, or a frame
// of any bytes.
//
// # Operations
//
//	sum, max, min  of each element over all ranks; whole numbers wrap around
//	avg            the sum divided by the number of ranks
//	weighted_avg   the first number of each vector is its weight w: Σ w·v / Σ w,
//	               without the weights
//	gather         the vectors of all ranks, which may differ in length, as one
//	               line or frame each, rank 0 first
//
// # When ranks disagree
//
// Before each reduction the ranks compare their vectors. If one rank has a longer
// vector than another, all ranks return an error that names both. The same holds if
// one rank's input ends and another's continues, so that no rank waits for one that has
// ended. A line that is not a vector is an error of its rank, and the others name
// that rank. A rank that waits for its input also detects a failure of the job at once.
package pipe
