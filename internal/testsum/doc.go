// SPDX-License-Identifier: Apache-2.0

// Command testsum formats the output of `go test -json`, and summarises
// several runs, including skips.
//
//	go test -json ./... | testsum -record FILE     one line per package, the full output of failures
//	testsum -remaining FILE <LIST                  the tests that a run has not run completely
//	testsum -report FILE…                          failures, skips with reasons, the closing line
//
// The last line of a report is: `N passed, N failed, N skipped`.
//
// A test without subtests counts once. A test with subtests counts
// through them, and once more only if it failed while none of them did. A
// package that fails by itself (it does not build, its TestMain fails,
// it runs out of time) counts as one failure. A skip does not count if the same test
// passed in another recorded run: the race tests skip slow tests, which the plain run
// includes.
//
// A test that does only a part of its work with -short, or none, logs a line that begins with
// "sampled: ", or skips with such a reason. -remaining treats it like a skip: a run without
// -short must follow. A test of which a build leaves out a part, for example that with the
// race detector, logs a line that begins with "left out: "; a run of another build must follow.
//
// With -short all runs have this flag. -remaining omits the tests that another one would
// sample again, and -report does not count skips for this reason: they are left to
// `make test-all`.
//
// With -slowest N a report begins with the N tests at the top level that took longest.
//
// With -require-all a skip is a failure, for machines that have everything that
// tests need.
package main
