// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// gcPercent returns the percentage of the garbage collector.
func gcPercent() uint64 {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// The higher percentage ends with the first collection.
func TestDelayFirstGC(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(70))
	if delayFirstGC("70"); gcPercent() != 70 {
		t.Fatalf("percentage %d, want the user's 70", gcPercent())
	}
	delayFirstGC("")
	if n := gcPercent(); n != firstGC && n != usualGC { // the usual one if a collection has begun already
		t.Fatalf("percentage %d before the collection, want %d", n, firstGC)
	}
	runtime.GC()
	for end := time.Now().Add(10 * time.Second); gcPercent() != usualGC; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("percentage %d ten seconds after a collection, want %d", gcPercent(), usualGC)
		}
	}
}
