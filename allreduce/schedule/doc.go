// SPDX-License-Identifier: Apache-2.0

// Package schedule says who sends what to whom, and what is added to what, in a
// collective. It moves no bytes: a [Flow] is one rank's share of one collective
// as a machine of values, and a driver moves the bytes.
//
//	f.Start(place, n, schedule.Options{})
//	reader of edge e:  r, ok := f.Expect(e); read the part; f.Arrived(e)
//	whoever is free:   a, ok := f.Next(me); carry it out; f.Done(a)
//	until f.Finished()
//
// The vector is cut into parts, so that a part travels on while the next one
// arrives. Parts of one edge arrive in order; between edges there is no order at
// all, and the result does not depend on it.
//
// # The order of additions
//
// Ranks stand in an in-order binary tree (see [Place]): left subtrees hold
// lower ranks, right subtrees higher ones. [AllReduce] adds
//
//	(left + own) + right
//
// at every rank, whatever arrives first. So the sum is parenthesised in the
// same way for each element, a function of the number of ranks alone, with the
// operands in the order of their ranks. Sums of a received part wait in one of
// a few slots for their turn.
//
// # Nobody blocks in a ring
//
// A driver's send blocks until the peer reads. If any goroutine could carry out
// any send, ranks could wait for each other in a ring: each reads no
// more since it sends, and sends in vain since nobody reads. So an action
// belongs to somebody: Next takes the edge whose reader asks, or [Self] for the
// goroutine that called the collective, and answers with what that one may do.
// What comes down the tree is passed further down by the reader of the edge to
// the parent, and by nobody else: so it drains to the leaves, whatever happens,
// and what goes up finds a reader at each level.
//
// # Other schedules
//
// A ring, halving and doubling, or two trees are further types with the methods
// of [Flow]; their edges are numbered as they like. The drivers do not change.
package schedule
