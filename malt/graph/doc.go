// SPDX-License-Identifier: Apache-2.0

// Package graph holds dataflow graphs as values: to which ranks a rank sends
// its updates, and with which weight a receiver averages them.
//
// A graph has a vertex per rank and an edge From → To for each rank To to which
// From sends. All ranks of a job build the same graph from the same name:
//
//	g, err := graph.New("halton", 8)
//	g.Out(0, 3)  // the ranks to which rank 3 sends in round 0
//	g.Senders(3) // the ranks from which rank 3 needs a receive queue
//
// Most graphs are the same in each round. [OnePeer] is not: each rank has one
// neighbour a round, and the neighbours change with a fixed period. A rank that
// does not count rounds uses [Graph.Union].
//
// # Which graph
//
// The number of edges is the number of updates that a round sends through the
// network. The spectral gap measures how fast the ranks' models become alike:
// repeated averaging shrinks their distance by the factor 1 − gap per round.
//
//	name         edges a round   rounds  shape
//	all          N(N−1)          1       each rank to each other rank
//	halton       N⌈log2 N⌉       1       rank i to i + ⌊N·h⌋, h from Halton's sequence
//	exponential  N⌈log2 N⌉       1       rank i to i + 2^k
//	one_peer     at most N       log2 N  one neighbour a round; exact average after a period
//	ring         2N              1       both neighbours
//	tree         2(N−1)          1       parent and children of a binary tree
//	star         2(N−1)          1       all to rank 0 and back: a parameter server
//
// Updates reach all ranks only if the graph is strongly connected: otherwise
// the models of some ranks never learn from the data of others. [Graph.Validate]
// reports such graphs, and all constructors return valid ones.
//
// # Mixing weights
//
// A receiver replaces its value x by Σ w·x over its own value and those of the
// senders of the round. The constructors use uniform weights, 1/(number of senders + 1),
// except for one_peer where N is no power of two, whose weights belong to the
// construction. [Graph.Metropolis] returns the same graph with Metropolis-Hastings
// weights, with which every connected undirected graph keeps the mean of all ranks.
//
// A Graph is immutable; any number of goroutines may use it.
//
// Sources: the graphs all, halton and the parameter server are those of MALT (Li,
// Kadav, Kruus, Ungureanu, EuroSys 2015). The exponential and one-peer
// exponential graphs are in Assran, Loizou, Ballas, Rabbat, "Stochastic Gradient
// Push", ICML 2019. For other numbers of ranks one_peer follows the idea of the
// Base-2 graph of Takezawa, Sato, Bao, Niwa, Yamada, "Beyond Exponential Graph",
// NeurIPS 2023: an exact average after finitely many rounds of pairwise exchange.
package graph
