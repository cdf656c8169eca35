// SPDX-License-Identifier: Apache-2.0

// Package collective measures an all-reduce of float32 sums, in place: ours by
// each schedule, and what other systems need for the same on the same machine.
//
//	r, err := collective.Run(ctx, collective.Config{
//		Ranks: 4, Sizes: []int{4, 65536, 1 << 20},
//		Self: []string{"/usr/bin/gvw", "bench", "rank"},
//	})
//	err = r.WriteTable(os.Stdout)
//
// # Method
//
// That of the OSU benchmarks. Every rank is a process of its own (but over the
// transport "mem", where ranks are goroutines). First the result of one call is
// compared with the exact answer, on every rank, element by element. After small
// batches of warm-up come batches of back-to-back calls between barriers; the
// time of a batch is that of its slowest rank, its CPU the user and system time
// of all ranks. In the end the result is compared again. Systems take turns,
// round by round, so that a noisy machine is noisy to all of them. Figures are
// the median and the best of all batches of all rounds.
//
// How many calls make a batch follows from the warm-up, agreed by all ranks: some
// 20 ms of them, at least one.
//
// # Peers
//
// Open MPI and MPICH run a small C program (peer/mpi.c), XGBoost's collective a
// Python program that calls the library without copies. vw has no such program:
// a job of one example per rank is run with few passes and with many. The cost of
// an additional pass is one all-reduce of its weights (and the pass itself, which
// is next to nothing); its result cannot be checked, and a size that is no power
// of two, or below 8 bytes, cannot be measured. A peer that is not installed is
// named in the result with how to get it; one that fails, with its last words.
package collective
