// SPDX-License-Identifier: Apache-2.0

// Package pipe exchanges vectors that arrive on a stream with other ranks. `gvw malt` does this for programs in any
// language.
//
//	err := pipe.Run(ctx, group, pipe.Config{Merge: "average"}, os.Stdin, os.Stdout)
//
// A program writes its model as a vector and reads the merged one, which is its model from then on. Each vector is a
// round: Run sends it to the receivers in the graph, merges what has arrived with it, and writes the result
// before it reads the next vector. The first vector sets the length of all. When the input ends, Run waits until
// the inputs of all ranks have ended.
//
// # Formats
//
// As text, a vector is a line of numbers separated by blanks, and so is the result. As a frame, it is its length in
// bytes (8 bytes), then its elements; all little-endian.
//
// # Mergers
//
//	average    the mean of the vector and of what has arrived
//	weighted   the same with the mixing weights of the graph
//	sum        the sum of the vector and of all that has arrived, for gradients
//	replace    what has arrived, over the vector
package pipe
