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
// A test that does only a part of its work with -short logs a line that begins with
// "sampled: ". -remaining treats it like a skip: a run without -short must follow.
//
// With -slowest N a report begins with the N tests at the top level that took longest.
//
// With -require-all a skip is a failure, for machines that have everything that
// tests need.
package main
