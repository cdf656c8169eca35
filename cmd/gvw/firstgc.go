// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"runtime/debug"
)

// Percentages of the garbage collector: that of the runtime, and that of the time before the first collection.
const (
	usualGC = 100
	firstGC = 400
)

// delayFirstGC starts the first garbage collection at a heap of 16 MiB instead of 4, and leaves the later ones as they are.
// The two tables of a rank at -b 18 and what packages allocate at the start take 10 MiB: a collection of that finds no garbage,
// and takes a tenth of the CPU time of a short rank. gogc is the user's GOGC: if there is one, nothing changes.
func delayFirstGC(gogc string) {
	if gogc != "" {
		return
	}
	debug.SetGCPercent(firstGC)
	// The first collection frees this object.
	runtime.AddCleanup(new(*int), func(percent int) { debug.SetGCPercent(percent) }, usualGC)
}
