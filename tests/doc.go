// SPDX-License-Identifier: Apache-2.0

// Package tests holds the end-to-end tests: the two programs as a user runs
// them, against recorded outputs of the real vw (testdata/golden), against a
// live vw where one is installed, and against each other.
//
//	golden_test.go   predictions, weights, tables and traces of vw, case by case
//	cluster_test.go  four ranks through our server, against vw's four
//	mixed_test.go    vw workers and gvw workers in one job
//	vwserver_test.go gvw workers at vw's own server
//	tutorial_test.go the commands of docs/tutorial.md, and what it says of them
//	run_test.go      gvw run: determinism, agreement with one process, root cause
//	program_test.go  gvw run: programs that use package allreduce
//	composed_test.go vw's composed learners: recorded predictions, models both ways, docs/vw-learners.md
//	solvers_test.go  the commands of docs/solvers.md
//	models_test.go   model files, both ways between gvw and vw
//	faults_test.go   bad input, bad flags, damaged files, dead peers
//	recovery_test.go workers killed anywhere under gvw run, and the launcher
//	checkpoint_test.go all workers lost at once, and the launcher: on from a checkpoint
//	handover_test.go slow ranks, and the attempts that take their place
//	spares_test.go   processes without a rank that take that of a lost one
//	losses_test.go   stopped ranks, the server killed, replacements, duplicates
//	secure_test.go   secrets and certificates, right and wrong; nothing secret shows
//	hostile_test.go  ten thousand hostile connections, and a job that starts meanwhile
//	networkfaults_test.go ranks in network namespaces: slow links, lost packets, partitions, resets
//	real_test.go     real data sets, against the scores others reach
//
// A test that needs what a bare clone lacks (the sets beside the repository, a
// Python with vowpalwabbit) skips and says why; with REQUIRE_SHARED=1 or
// REQUIRE_ALL=1 it fails instead.
package tests
