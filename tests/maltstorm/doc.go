// SPDX-License-Identifier: Apache-2.0

// Package maltstorm kills and stops processes that train with shared vectors (package malt), and checks what is left.
//
// The test program runs itself once for each rank. Each job has a drawn graph, synchrony and policy on losses. It trains a
// small convex model, with the shares of lost ranks taken over by others. Ranks get SIGKILL, or SIGSTOP
// and later SIGCONT. A launcher starts them again where the policy replaces ranks. No job may
// hang, and the model of each rank that comes to the end has a loss within 2 % of that of a job without faults.
//
//	make storm-malt                300 jobs
//	STORM=50 STORM_SEED=7 go test -v -run TestStorm ./tests/maltstorm
//	go test -v -run TestKilledRank ./tests/maltstorm
//
// TestKilledRank is the experiment of Fig. 14 of MALT: it kills one of 10 ranks, and prints how long the others pause.
package maltstorm
