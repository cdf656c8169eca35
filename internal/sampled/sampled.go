// SPDX-License-Identifier: Apache-2.0

// Package sampled selects the cases of tests that would take too long in full.
//
// Short and Race log what internal/testsum looks for, so that another run of the test follows that has all cases:
//
//	for _, c := range sampled.Short(t, cases, 0, 3) {  // every third one with -short
//	for _, c := range sampled.Race(t, cases, 1, 2) {   // every second one, from the second, under the race detector
package sampled

import "testing"

// InCheck reports whether make check runs the tests, which sets GVW_CHECK=1. It has 90 s for all of them, so it leaves out those
// that take seconds. getenv is os.Getenv.
func InCheck(getenv func(string) string) bool { return getenv("GVW_CHECK") == "1" }

// NotInCheck skips the test in make check.
func NotInCheck(t testing.TB, getenv func(string) string) {
	t.Helper()
	if InCheck(getenv) {
		t.Skip("sampled: it takes seconds; make test has it")
	}
}

// Short returns all cases, and in the short form every n-th one, from the i-th.
func Short[T any](t *testing.T, all []T, i, n int) []T {
	t.Helper()
	if !testing.Short() {
		return all
	}
	t.Logf("sampled: one of %d cases", n)
	return every(all, i, n)
}

// Race returns all cases, and under the race detector every n-th one, from the i-th: each takes about ten times as long there.
func Race[T any](t *testing.T, all []T, i, n int) []T {
	t.Helper()
	if !UnderRace {
		return all
	}
	t.Logf("left out: all but one of %d cases", n)
	return every(all, i, n)
}

func every[T any](all []T, i, n int) (some []T) {
	for ; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}
