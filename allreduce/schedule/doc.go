// SPDX-License-Identifier: Apache-2.0

// Package schedule says who sends what to whom, and what is added to what, in a
// collective. It moves no bytes: a [Program] is one rank's share of a collective
// as a list of steps, a [Run] carries it through part by part, and a driver moves
// the bytes.
//
// # The order of additions
//
// Ranks stand in an in-order binary tree: left subtrees hold lower ranks, right
// subtrees higher ones. [PipelinedTree] adds
//
//	(left + own) + right
//
// at every rank, whatever arrives first. So the sum is parenthesised in the
// same way for each element, a function of the number of ranks alone, with the
// operands in the order of their ranks.
package schedule
