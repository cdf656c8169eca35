// SPDX-License-Identifier: Apache-2.0

// Command testsum makes the output of `go test -json` readable, and sums up
// several runs at the end, skips included.
//
//	go test -json ./... | testsum -record FILE     one line per package, all of what failed
//	testsum -remaining FILE <LIST                  the tests that a run has not run in full
//	testsum -report FILE…                          failures, skips with reasons, the closing line
//
// The closing line of a report is plain: `N passed, N failed, N skipped`.
//
// What counts: a test without subtests counts once; a test with subtests counts
// through them, and once more only if it failed while none of them did. A
// package that fails on its own account (it does not build, its TestMain fails,
// it runs out of time) counts as one failure. A skip that another recorded run
// made up for, because the same test passed there, does not count: the race
// tests leave out what is slow, the plain run has it.
//
// A test that does only a part of its work with -short logs a line that begins with
// "sampled: ". -remaining treats it like a skip: a run without -short has to follow.
//
// With -require-all a skip is a failure, for machines where everything that
// tests need can be had.
package main
