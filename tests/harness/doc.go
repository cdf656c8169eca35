// SPDX-License-Identifier: Apache-2.0

// Package harness holds the common parts of the drivers of tests/storm, tests/rdma and
// tests/hadoop: programs, real examples, waits, the output of processes, and their ids.
//
//	programs, err := harness.Programs(ctx, os.Getenv(harness.EnvPrograms), dir, "gvw", "spanning_tree")
//	examples, err := harness.Data{Root: "../..", Sets: os.Getenv("GVW_SHARED")}.Real(1000)
//	pid := harness.Find(func(p harness.Process) bool { return p.Parent() == launcher })
//
// It returns errors and leaves it to the tests to fail: a driver's TestMain has no
// testing.T. The processes are those of /proc, so elsewhere than on Linux there are none.
package harness
