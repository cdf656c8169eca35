// SPDX-License-Identifier: Apache-2.0

// Package sampled selects the cases of tests that would take too long in full.
//
// Both functions log what internal/testsum looks for, so that another run of the test follows that has all cases:
//
//	for _, c := range sampled.Short(t, cases, 0, 3) {  // every third one with -short
//	for _, c := range sampled.Race(t, cases, 1, 2) {   // every second one, from the second, under the race detector
package sampled

import "testing"

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
