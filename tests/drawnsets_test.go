// SPDX-License-Identifier: Apache-2.0

//go:build !long

package tests

// How many sets are drawn: the first ones of make test-long.
const (
	anySets    = 250 // option sets of TestAnyOptionsAgreeWithVW
	drawnSets  = 120 // option sets of linear learners of TestDrawnOptionsAgreeWithVW
	drawnMore  = 60  // those of composed learners
	drawnCount = 105 // the least number of its sets that must count
)
