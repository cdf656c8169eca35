// SPDX-License-Identifier: Apache-2.0

// Package maltstorm disturbs processes that train with shared vectors (package malt), and checks what is left.
//
// The test program runs itself once for each rank. Each job has a drawn graph, synchrony and policy on losses. It trains a
// small convex model, with the shares of lost ranks taken over by others. Each round exchanges two vectors in turn, and
// the job ends with the average of a third one. Ranks get SIGKILL, in some jobs before they have joined, or SIGSTOP
// and later SIGCONT. In some jobs a proxy carries the connections between ranks: it keeps back what two of them send to
// each other for some seconds, or changes bits. A launcher starts lost ranks again where the policy replaces them.
//
// No job may hang. The model of each rank that comes to the end has a loss within 2 % of that of a job without faults,
// and each error has a signal or the number of a rank. A job that shrinks may fail to start if a rank is killed before it
// has joined: then all ranks end with an error after the time in which ranks must join.
//
//	make storm-malt                300 jobs
//	STORM=50 STORM_SEED=7 go test -v -run TestStorm ./tests/maltstorm
//	STORM=50 STORM_SEED=7 STORM_ONLY=17 go test -v -run TestStorm ./tests/maltstorm
//	go test -v -run TestKilledRank ./tests/maltstorm
//
// TestGuestStorm kills and stops ranks whose updates go over RDMA, and damages their connections, in the guest of
// tests/rdma. Its jobs have one fault each, and losses are compared with that of a serial program:
//
//	make test-rdma                                                    3 jobs
//	STORM=48 go test -tags long -v -timeout 1h -run TestStormInGuest ./tests/rdma
//
// TestKilledRank is the experiment of Fig. 14 of MALT: it kills one of 10 ranks, and prints how long the others pause.
package maltstorm
