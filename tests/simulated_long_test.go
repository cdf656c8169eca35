// SPDX-License-Identifier: Apache-2.0

//go:build long

package tests

import "github.com/gvw-project/gvw/allreduce/schedule"

// The jobs that are compared with their simulation: rates in Mbit/s, and schedules.
var (
	simulatedRates = []int{25, 50, 100}
	simulatedNames = []schedule.Name{schedule.DoubleTree, schedule.Halving, schedule.Ring}
)

const (
	simulatedSlack = 1.2 // jobs may take so many times as long as simulated
	simulatedTurns = 4   // the fastest one counts, as other load on this machine makes jobs slower
)
