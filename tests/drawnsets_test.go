// SPDX-License-Identifier: Apache-2.0

//go:build !long

package tests

// How many sets are drawn: the first ones of make test-long.
const (
	anySets    = 120 // option sets of TestAnyOptionsAgreeWithVW
	drawnSets  = 80  // option sets of linear learners of TestDrawnOptionsAgreeWithVW
	drawnMore  = 40  // those of composed learners
	drawnCount = 70  // the least number of its sets that must count
)
