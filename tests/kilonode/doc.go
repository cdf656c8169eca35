// SPDX-License-Identifier: Apache-2.0

// Package kilonode runs a job of many worker processes on one machine through one spanning_tree,
// and measures what each rank and the server need.
//
//	go test ./tests/kilonode                250 ranks, as everywhere
//	make kilonode                           500 ranks, and what was measured
//	KILONODE_RANKS=1000 KILONODE_BITS=16 go test -v ./tests/kilonode
//
// The data is planted: labels are drawn from a logistic model of known features, so the optimum
// of the objective is computed without gvw. The job trains the hybrid of SGD and L-BFGS. It runs
// three times: undisturbed, with one rank in fifty killed at random times, and with a tenth of the
// ranks, a rack, killed at once. The test starts killed ranks again, as a launcher does. All
// models must have the same bytes. On two busy cores the first job of 1,000 ranks took 293 s.
//
// Another test counts the sockets of ranks that are wired: at most five each.
//
// Other tests run KILONODE_JOBS jobs of five ranks at once, as goroutines and as processes, and KILONODE_TURNS jobs one after
// another: the server's memory, descriptors and goroutines must not grow. 200 jobs of five processes at once took 56 s on two
// busy cores, and the server used at most 15.3 MiB and 2.2 s of CPU.
package kilonode
