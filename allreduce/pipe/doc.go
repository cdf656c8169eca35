// SPDX-License-Identifier: Apache-2.0

// Package pipe reduces vectors that arrive on a stream: what `gvw allreduce` does
// for programs in any language.
//
//	err := pipe.Run(ctx, group, pipe.Config{Op: "sum", Type: "f64"}, os.Stdin, os.Stdout)
//
// Every rank reads one vector after the other. The n-th vectors of all ranks become
// one result, the same on all of them, which each writes before it reads the next.
//
// # Formats
//
// As text a vector is a line of numbers with blanks between them, and so is the
// result; numbers are written with as few digits as tell them apart. An empty line
// is an empty vector. As frames a vector is 8 bytes, the length in bytes of what
// follows, and its elements; all little-endian. Type "text" is for gathering: any
// line, or a frame of any bytes.
//
// # Operations
//
//	sum, max, min  of each element over all ranks; whole numbers wrap around
//	avg            the sum divided by the number of ranks
//	weighted_avg   the first number of each vector is its weight w: Σ w·v / Σ w,
//	               without the weights
//	gather         the vectors of all ranks, which may differ in length, one after
//	               the other, rank 0 first: one line or frame for each
//
// # When ranks disagree
//
// Before each reduction the ranks compare what they have. That one has a longer
// vector than another is an error on all of them, which names both; so is that
// one's input ends where another's goes on. Nobody waits for a rank that has come to
// its end. A line that is no vector is the error of its rank, and the others name
// it. A rank that waits for its input learns of a failure at once.
package pipe
