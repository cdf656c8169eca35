// SPDX-License-Identifier: Apache-2.0

//go:build long

package tests

// How many sets are drawn.
const (
	anySets    = 5000 // option sets of TestAnyOptionsAgreeWithVW
	drawnSets  = 480  // option sets of linear learners of TestDrawnOptionsAgreeWithVW
	drawnMore  = 480  // those of composed learners
	drawnCount = 580  // the least number of its sets that must count
)
