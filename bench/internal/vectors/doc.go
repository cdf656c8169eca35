// SPDX-License-Identifier: Apache-2.0

// Package vectors measures the figures of shared vectors (docs/malt.md). The ranks of a job are goroutines of this process,
// with a real server and connections over the loopback, whose bytes are counted.
//
//	figures, err := vectors.LostRank(ctx, "DIR") // DIR has the data sets cocoa-text and splice
//
// In the figures about time each rank learns from Task.Rate examples a second, far below what a core can do. Models of rank 0
// are evaluated after the job.
package vectors
