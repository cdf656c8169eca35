// SPDX-License-Identifier: Apache-2.0

//go:build !long

package tests

import "github.com/gvw-project/gvw/allreduce/schedule"

// The jobs that are compared with their simulation: rates in Mbit/s, and schedules. Every run of the tests has some of
// them, and allows for a machine that is busy with other tests.
var (
	simulatedRates = []int{50}
	simulatedNames = []schedule.Name{schedule.DoubleTree, schedule.Ring}
)

const (
	simulatedSlack = 3.0 // jobs may take so many times as long as simulated
	simulatedTurns = 2   // the fastest one counts, if the first one is too slow
)
