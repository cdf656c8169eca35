// SPDX-License-Identifier: Apache-2.0

// Package retry decides how long a job that recovers from losses goes on, and
// when its next epoch may start.
//
// Losses that come faster than steps complete do not end the job as long as new
// attempts join and ranks make progress. One rank, or one edge, that ends epoch
// after epoch does end it. A [Budget] counts both, at the end of each epoch:
//
//	var b retry.Budget
//	rank, n := b.Spend(completed, lost, inHand)
//	if n >= retry.MaxFruitless {
//		// fail the job: rank has ended n epochs without progress
//	}
//	// start the next epoch b.Pause() after the end of this one
//
// # Contract
//
//   - A completed step resets the budget.
//   - An epoch after which more ranks have their contribution in hand than
//     before counts for no rank, unless an edge has ended it.
//   - The first two epochs after a step start at once. Later ones are delayed by
//     at most five seconds.
package retry
